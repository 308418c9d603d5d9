// The list of dialogues, its filters and its keys.

const PAGE = 100;
const dialogues = grouped(JSON.parse(byId("rows").textContent));
let found = dialogues;
let shown = 0;

function item(dialogue) {
  const rows = chosenRuns().map((run) => dialogue.rows.get(run)).filter(Boolean);
  const query = rows[0].messages.findLast((m, i) => m.role === "user" && i !== rows[0].turn);
  const about = element("span", "about", ...visible(headings.get(dialogue.task) ?? dialogue.task), " \u00b7 ");
  about.append(...(query ? excerpt(query.text) : ["no query"]));
  const opener = element("button", "opener", about, ...rows.map(outcome));
  opener.type = "button";
  opener.setAttribute("aria-expanded", "false");
  const made = element("li", "dialogue", opener);
  opener.addEventListener("click", () => toggle(made, opener, dialogue));
  return made;
}

function outcome(row) {
  const said = element("span", "said", ...(row.turn === null ? ["\u2014"] : excerpt(row.messages[row.turn].text)));
  said.dir = "auto";
  const made = element("span", several ? "outcome" : "outcome single", chip(row), said);
  if (several) made.prepend(element("span", "tag", runs[row.run].tag));
  return made;
}

function toggle(place, opener, dialogue) {
  const open = place.querySelector(".opened");
  opener.setAttribute("aria-expanded", String(!open));
  if (open) return open.remove();
  place.append(opened(dialogue));
  for (const text of place.querySelectorAll(".text, .runs")) {
    if (text.scrollHeight > text.clientHeight || text.scrollWidth > text.clientWidth) text.tabIndex = 0;
  }
}

function show(count) {
  const list = byId("list");
  for (const dialogue of found.slice(shown, shown + count)) list.append(item(dialogue));
  shown = Math.min(shown + count, found.length);
  const more = byId("more");
  more.hidden = shown === found.length;
  more.textContent = `Show ${Math.min(PAGE, found.length - shown)} more`;
}

function refresh() {
  const value = (name) => controls[name].value;
  const wanted = { runs: chosenRuns(), differ: several && controls.differ.checked, words: words() };
  wanted.turned = several ? value("turned") : "";
  for (const name of ["task", "label", "state", "genuine", "correct"]) wanted[name] = value(name);
  found = dialogues.filter((dialogue) => matches(dialogue, wanted));
  shown = 0;
  byId("list").replaceChildren();
  show(PAGE);
  byId("count").textContent = `${found.length} of ${dialogues.length} dialogues${document.querySelector(".parts") ? " in this part" : ""}`;
}

function choice(name, title, options) {
  const select = element("select", "");
  for (const [value, text] of [["", "all"], ...options]) {
    const option = element("option", "", spelled(text));
    option.value = value;
    select.append(option);
  }
  select.name = name;
  controls[name] = select;
  return element("label", "", element("span", "", title), select);
}

function box(title, value, checked) {
  const input = element("input", "");
  input.type = "checkbox";
  input.value = value;
  input.checked = checked;
  return [input, element("label", "choice", input, element("span", "", ...title))];
}

function buildFilters() {
  const form = byId("filters");
  if (several) {
    const boxes = runs.map((run, i) => box([element("span", "tag", run.tag), ...visible(run.name)], String(i), i < 4));
    controls.runs = boxes.map(([input]) => input);
    const [differ, only] = box(["only where these runs differ"], "differ", false);
    controls.differ = differ;
    const choices = element("div", "choices", ...boxes.map(([, label]) => label), only);
    form.append(element("fieldset", "wide", element("legend", "", "Runs, side by side"), choices));
  }
  const search = element("input", "");
  search.type = "search";
  search.name = "words";
  search.placeholder = "words in a dialogue, or its id";
  controls.words = search;
  const present = new Set(dialogues.flatMap((d) => [...d.rows.values()].map(labelOf)));
  const labels = [...new Set([...meanings.keys(), ...present])].filter((label) => label && present.has(label));
  const same = (values) => values.map((value) => [value, value]);
  form.append(
    element("label", "search", element("span", "", "Search"), search),
    choice("task", "Task", vocabulary.tasks),
    choice("label", "Label", same(labels)),
    choice("genuine", "Genuine", same(["yes", "no", "unjudged"])),
    choice("correct", "Answer", same(["right", "wrong", "ungraded"])),
    choice("state", "State", same(states)),
    several ? choice("turned", "Compared with the first run", same(Object.keys(TURNS))) : "",
  );
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", refresh);
  form.hidden = false;
}

/** "/" focuses the search; up and down, or k and j, move through the list; Escape closes a dialogue. */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select, textarea");
  const item = event.target.closest(".dialogue");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    controls.words.focus();
  } else if (event.key === "Escape" && item && item.querySelector(".opened")) {
    item.querySelector(".opener").click();
    item.querySelector(".opener").focus();
  } else if (event.target.matches(".opener") && ["ArrowDown", "ArrowUp", "j", "k"].includes(event.key)) {
    const down = event.key === "ArrowDown" || event.key === "j";
    const next = down ? item.nextElementSibling : item.previousElementSibling;
    if (next) {
      event.preventDefault();
      next.querySelector(".opener").focus();
    }
  }
}

byId("without-script").remove();
buildFilters();
byId("more").addEventListener("click", () => {
  const before = shown;
  show(PAGE);
  byId("list").children[before].querySelector(".opener").focus();
});
document.addEventListener("keydown", onKey);
refresh();
