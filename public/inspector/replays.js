/** Running deliveries again, one or many, each after a question. */
import { say } from "../dom.js";
import { ask } from "./api.js";
import { confirm, tell } from "./dialogs.js";
import { inWords } from "./filters.js";
import { deliveries, eventName, number, plain } from "./words.js";

/**
 * @returns the id of the new delivery; null where it was not agreed to
 * @throws ApiError
 */
export async function replayOne(delivery) {
  const { id, endpoint, repo, state } = delivery;
  const text = `${eventName(delivery)} on ${plain(repo)} runs again at ${plain(endpoint)}, as a new delivery.`;
  const more = state === "succeeded" ? ["It has succeeded before."] : [];
  if (!(await confirm({ title: "Replay this delivery?", text: [text, ...more], yes: "Replay" }))) return null;
  const made = await ask(`api/deliveries/${id}/replay`, { method: "POST" });
  say("Replayed: this is the new delivery");
  return made.id;
}

/**
 * Counts first, asks, then replays.
 * @param query the filter in the API's words
 * @throws ApiError
 */
export async function replayMany(query) {
  // What arrives between the count and the answer is not meant.
  const filter = { ...query, until: query.until ?? new Date().toISOString() };
  const { count } = await post({ filter, dryRun: true });
  if (count === 0) return tell({ title: "Nothing to replay", text: ["No delivery matches any more."] });
  const which = inWords(query);
  const agreed = await confirm({
    title: `Replay ${deliveries(count)}?`,
    text: [
      `${which ? `With ${which}: each` : "All that are kept: each"} runs again, as a new delivery.`,
      ...(query.state ? [] : ["No state is chosen, so those that succeeded run again too."]),
    ],
    yes: `Replay ${number(count)}`,
    grave: true,
  });
  if (!agreed) return;
  say("Replaying");
  const { replayed } = await post({ filter });
  await tell({ title: `${deliveries(replayed)} replayed`, text: ["They are the newest in the list."] });
}

/** However many there are, it takes its time. */
function post(body) {
  return ask("api/deliveries/replay", { method: "POST", body, patient: true });
}
