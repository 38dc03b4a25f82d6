/** What every page gains where scripts run: times of the reader's own zone, copying, and forms that are sent once. */

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** The moment in the reader's own zone; the day is left out where it is today. */
function moment(date) {
  const days = day.format(date);
  return days === day.format(new Date()) ? clock.format(date) : `${days}, ${clock.format(date)}`;
}

/** Makes what the server wrote fit for this browser. Called again for what comes later. */
export function enliven(root) {
  for (const time of root.querySelectorAll("time")) {
    time.title = time.textContent;
    time.textContent = moment(new Date(time.dateTime));
  }
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
}

/** Says a sentence to screen readers. */
export function say(sentence) {
  const said = document.getElementById("said");
  // The same sentence twice in a row is read only when the text changes in between.
  said.textContent = "";
  requestAnimationFrame(() => {
    said.textContent = sentence;
  });
}

/** The clipboard API is missing on plain http away from this machine; there the text is selected. */
async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  const label = button.firstChild;
  let copied = true;
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    copied = false;
    source.closest("details")?.setAttribute("open", "");
    getSelection().selectAllChildren(source);
  }
  button.dataset.result = copied ? "copied" : "selected";
  label.textContent = copied ? "Copied" : "Selected";
  say(copied ? "Copied" : "Copying is not allowed here. The text is selected: copy it by keyboard");
  clearTimeout(button.timer);
  button.timer = setTimeout(() => {
    delete button.dataset.result;
    label.textContent = "Copy";
  }, 2500);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) void copy(button);
});

// A replay waits for the answer: a second click would send it twice.
document.addEventListener("submit", (event) => {
  const { target, submitter } = event;
  if (target.dataset.sent) return event.preventDefault();
  target.dataset.sent = "yes";
  submitter?.setAttribute("aria-disabled", "true");
});
// A page that the browser kept while another was shown starts afresh.
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
  for (const button of document.querySelectorAll("button[aria-disabled]")) button.removeAttribute("aria-disabled");
});

// Loaded anew, a page need not say again what was done.
const address = new URL(location.href);
if (address.searchParams.has("done")) {
  address.searchParams.delete("done");
  history.replaceState(history.state, "", address);
}

enliven(document);
