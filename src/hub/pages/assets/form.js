/** Rows for the watched items, and what is wrong with the form while it is filled in. The server alone knows the rules. */

const form = document.getElementById("webhook");
const text = document.getElementById("watched");
const types = text.dataset.types.split(" ");
const WAIT_MS = 300;

/** Fields that a person has been in: nobody is told what is missing before they came there. */
const seen = new Set(
  [...form.querySelectorAll(".field-problem:not(:empty)")].map(({ id }) => id.replace("-problem", "")),
);
const seenItems = new WeakSet();

// Rows instead of lines; the lines stay what is sent.
const rows = document.createElement("div");
const add = makeButton("Add an item");
text.before(rows);
text.after(add);
text.hidden = true;
for (const label of form.querySelectorAll(".no-script")) label.hidden = true;
const lines = linesOf(text.value);
for (const line of lines.length > 0 ? lines : ["model:"]) addRow(line, { known: text.value.trim() !== "" });
number();
add.addEventListener("click", () => {
  const row = addRow("model:");
  number();
  row.querySelector("input").focus();
});

function linesOf(value) {
  return value.split("\n").flatMap((line) => line.trim() || []);
}

function addRow(line, { known = false } = {}) {
  const row = document.createElement("div");
  row.className = "item";
  const type = document.createElement("select");
  type.append(...types.map((one) => new Option(one, one)));
  const name = document.createElement("input");
  Object.assign(name, { autocomplete: "off", spellcheck: false, maxLength: 200 });
  const remove = makeButton("Remove");
  const problem = document.createElement("p");
  problem.className = "field-problem";
  problem.setAttribute("aria-live", "polite");
  row.append(type, name, remove, problem);
  fill(line);
  rows.append(row);
  if (known) seenItems.add(row);

  // Who pastes `type:name`, or several lines, means just that.
  name.addEventListener("paste", (event) => {
    const [first, ...rest] = linesOf(event.clipboardData.getData("text"));
    if (!first?.includes(":")) return;
    event.preventDefault();
    fill(first);
    for (const one of rest) addRow(one, { known: true });
    number();
    changed();
  });
  type.addEventListener("change", () => {
    hint();
    changed();
  });
  name.addEventListener("blur", () => {
    if (name.value) seenItems.add(row);
    void check();
  });
  remove.addEventListener("click", () => {
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    number();
    changed();
    (next?.querySelector("input") ?? add).focus();
  });
  return row;

  function fill(line) {
    const [, kind, rest] = /^([a-z]+):(.*)$/.exec(line) ?? [null, null, line];
    // What is no type is left to see, and for the server to complain about.
    type.value = types.includes(kind) ? kind : "model";
    name.value = types.includes(kind) ? rest : line;
    hint();
  }

  function hint() {
    name.placeholder = ["user", "org"].includes(type.value) ? "name" : "owner/name";
  }
}

function number() {
  [...rows.children].forEach((row, index) => {
    const [type, name, remove, problem] = row.children;
    const of = `item ${index + 1}`;
    type.setAttribute("aria-label", `Type of ${of}`);
    name.setAttribute("aria-label", `Name of ${of}`);
    remove.setAttribute("aria-label", `Remove ${of}`);
    problem.id = `item-${index}-problem`;
    name.setAttribute("aria-describedby", `${problem.id} watched-hint`);
  });
}

function makeButton(label) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "quiet", textContent: label });
  return button;
}

/** Rows in which nothing is written say nothing. */
function written() {
  return [...rows.children].filter((row) => row.children[1].value.trim() !== "");
}

function changed() {
  text.value = written()
    .map(({ children: [type, name] }) => `${type.value}:${name.value.trim()}`)
    .join("\n");
  clearTimeout(timer);
  timer = setTimeout(check, WAIT_MS);
}

let timer;
let asking = null;

async function check() {
  clearTimeout(timer);
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  try {
    const response = await fetch(form.dataset.check, {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      signal,
    });
    // What cannot be asked now is said when the form is sent.
    if (response.ok) show((await response.json()).problems);
  } catch {
    // Asked anew meanwhile, or the hub is away.
  }
}

/** While a button is pressed nothing may move: it would be released beside it. */
let pressed = false;
let held = null;
addEventListener("pointerdown", () => {
  pressed = true;
});
for (const end of ["pointerup", "pointercancel"])
  addEventListener(end, () =>
    setTimeout(() => {
      pressed = false;
      if (held) show(held);
    }),
  );

function show(problems) {
  held = pressed ? problems : null;
  if (held) return;
  const items = written();
  for (const row of rows.children) {
    const own = problems.filter(({ field, item }) => field === "watched" && item === items.indexOf(row));
    put(row.children[3], row.children[1], seenItems.has(row) ? own : []);
  }
  for (const field of ["url", "job", "domains", "secret"]) {
    const own = problems.filter((problem) => problem.field === field);
    put(document.getElementById(`${field}-problem`), document.getElementById(field), seen.has(field) ? own : []);
  }
  const ofAll = problems.filter(({ field, item }) => field === "watched" && item === undefined);
  put(document.getElementById("watched-problem"), text, seen.has("watched") ? ofAll : []);
}

function put(place, field, problems) {
  const sentences = problems.map(({ message }) => message);
  const now = [...place.children].map(({ textContent }) => textContent);
  // Said again, it would be read again.
  if (sentences.join("\n") !== now.join("\n"))
    place.replaceChildren(
      ...sentences.map((sentence) => {
        const span = document.createElement("span");
        span.textContent = sentence;
        return span;
      }),
    );
  if (field.localName === "fieldset") return;
  if (problems.length > 0) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}

form.addEventListener("input", changed);
form.addEventListener("change", (event) => {
  seen.add(event.target.name === "remove_secret" ? "secret" : event.target.name);
  changed();
});
form.addEventListener("focusout", ({ target }) => {
  if (!target.name || target.value === "") return;
  seen.add(target.name);
  void check();
});
if (seen.size > 0) void check();
