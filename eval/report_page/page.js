"use strict";
// Shows, filters and compares the rows of the page. Text reaches the page as text nodes alone.
(() => {
  const PAGE = 100;
  const UNSEEN = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
  const OF_EMOJI = /\p{Extended_Pictographic}\ufe0f?(?:\u200d\p{Extended_Pictographic}\ufe0f?)+|\p{Emoji}\ufe0f/gu;
  const byId = (id) => document.getElementById(id);
  const vocabulary = JSON.parse(byId("vocabulary").textContent);
  const { runs, states, settings } = vocabulary;
  const headings = new Map(vocabulary.tasks);
  const meanings = new Map(vocabulary.labels);
  const places = new Map(vocabulary.labels.map(([label], place) => [label, place]));
  const several = runs.length > 1;
  const dialogues = grouped(JSON.parse(byId("rows").textContent));
  const controls = {};
  let found = dialogues;
  let shown = 0;

  // ---- data -----------------------------------------------------------------------------------------------------

  function grouped(rows) {
    const byDialogue = new Map();
    for (const row of rows) {
      if (!byDialogue.has(row.id)) byDialogue.set(row.id, { id: row.id, task: row.task, rows: new Map() });
      byDialogue.get(row.id).rows.set(row.run, row);
    }
    return [...byDialogue.values()];
  }

  const labelOf = (row) => (row.judgement ? row.judgement.label : "");
  const genuineOf = (row) => (row.judgement ? (row.judgement.genuine ? "yes" : "no") : "unjudged");
  const correctOf = (row) => (row.correct === null ? "ungraded" : row.correct ? "right" : "wrong");
  const textOf = (row) =>
    (row.words ??= [row.id, ...row.messages.flatMap((m) => [m.text, m.reasoning || ""])].join("\n").toLowerCase());

  function chosenRuns() {
    return several ? controls.runs.filter((box) => box.checked).map((box) => Number(box.value)) : [0];
  }

  function matches(dialogue, wanted) {
    const rows = wanted.runs.map((run) => dialogue.rows.get(run)).filter(Boolean);
    if (wanted.differ && new Set(rows.map((row) => labelOf(row) + genuineOf(row))).size < 2) return false;
    return rows.some(
      (row) =>
        (!wanted.task || row.task === wanted.task) &&
        (!wanted.label || labelOf(row) === wanted.label) &&
        (!wanted.state || row.state === wanted.state) &&
        (!wanted.genuine || genuineOf(row) === wanted.genuine) &&
        (!wanted.correct || correctOf(row) === wanted.correct) &&
        (!wanted.words || textOf(row).includes(wanted.words)),
    );
  }

  // ---- elements: every text is a text node ------------------------------------------------------------------------

  function element(name, className, ...children) {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...children.filter((child) => child !== null && child !== ""));
    return made;
  }

  /** Text with its unseen characters in boxes, and the words searched for marked. */
  function visible(text, words = "") {
    const joiners = new Set();
    for (const emoji of text.matchAll(OF_EMOJI)) {
      for (let i = emoji.index; i < emoji.index + emoji[0].length; i += 1) joiners.add(i);
    }
    const pieces = [];
    let from = 0;
    for (const unseen of text.matchAll(UNSEEN)) {
      if (joiners.has(unseen.index)) continue;
      pieces.push(...marked(text.slice(from, unseen.index), words), control(unseen[0]));
      from = unseen.index + unseen[0].length;
    }
    pieces.push(...marked(text.slice(from), words));
    return pieces;
  }

  function control(character) {
    const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    return element("span", "control", `U+${code}`);
  }

  function marked(text, words) {
    if (!words) return text ? [text] : [];
    const pieces = [];
    const lower = text.toLowerCase();
    if (lower.length !== text.length) return [text];
    let from = 0;
    for (let at = lower.indexOf(words); at >= 0; at = lower.indexOf(words, from)) {
      pieces.push(text.slice(from, at), element("mark", "", text.slice(at, at + words.length)));
      from = at + words.length;
    }
    pieces.push(text.slice(from));
    return pieces;
  }

  function chip(row) {
    if (!row.judgement) return element("span", "chip failed", row.failure ? row.failure.kind : row.state);
    const place = places.get(labelOf(row));
    const made = element("span", "chip", element("span", `swatch label-${place ?? "other"}`), ...visible(labelOf(row)));
    if (row.judgement.genuine) made.append(element("span", "genuine", "genuine"));
    return made;
  }

  const excerpt = (text) => visible(text.replace(/[ \n\t]+/g, " ").slice(0, 240));

  // ---- the list ---------------------------------------------------------------------------------------------------

  function item(dialogue) {
    const rows = chosenRuns().map((run) => dialogue.rows.get(run)).filter(Boolean);
    const query = rows[0].messages.findLast((m, i) => m.role === "user" && i !== rows[0].turn);
    const about = element("span", "about", headings.get(dialogue.task) ?? dialogue.task, " \u00b7 ");
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
    for (const name of ["task", "label", "state", "genuine", "correct"]) wanted[name] = value(name);
    found = dialogues.filter((dialogue) => matches(dialogue, wanted));
    shown = 0;
    byId("list").replaceChildren();
    show(PAGE);
    byId("count").textContent = `${found.length} of ${dialogues.length} dialogues`;
  }

  const words = () => controls.words.value.trim().toLowerCase();

  // ---- one dialogue -----------------------------------------------------------------------------------------------

  function opened(dialogue) {
    const rows = chosenRuns().map((run) => dialogue.rows.get(run)).filter(Boolean);
    const first = rows[0];
    const meta = [headings.get(first.task) ?? first.task, settings[first.setting], `id ${first.id}`];
    if (first.reference !== null) meta.push(`reference: ${first.reference}`);
    if (first.gated) meta.push("text withheld: gated data set");
    const made = element("div", "opened", element("p", "meta", ...visible(meta.filter(Boolean).join(" \u00b7 "))));
    const context = first.messages.slice(0, first.answer ?? first.turn ?? first.messages.length);
    made.append(...context.map((m) => message(m, m.role === "user" ? "User" : "System")));
    made.append(element("div", "runs", ...rows.map(column)));
    return made;
  }

  function column(row) {
    const made = element("section", "run");
    if (several) made.append(element("p", "run-name", element("span", "tag", runs[row.run].tag), ...visible(runs[row.run].name)));
    if (row.answer !== null) made.append(message(row.messages[row.answer], "Answer", "answer", row));
    if (row.turn !== null) made.append(message(row.messages[row.turn], "User turn", "turn"));
    made.append(verdict(row));
    return made;
  }

  function message(said, name, className = "", row = null) {
    const by = element("p", "by", element("strong", "", name));
    by.append(element("span", "", ...visible(said.by === "data" ? "from the data" : said.by)));
    if (said.tokens !== undefined) by.append(element("span", "", `${said.tokens} tokens`));
    if (said.finish === "length") by.append(element("span", "warn", "cut off at its limit"));
    if (row && row.correct !== null) by.append(element("span", row.correct ? "right" : "warn", correctOf(row)));
    const made = element("div", `message ${className}`.trim(), by);
    if (said.reasoning) made.append(folded("Reasoning", said.reasoning));
    made.append(block(said.text));
    return made;
  }

  function block(text) {
    const made = element("div", "text", ...(text ? visible(text, words()) : [element("em", "", "empty")]));
    made.dir = "auto";
    return made;
  }

  function folded(name, text) {
    return element("details", "", element("summary", "", name), block(text));
  }

  function verdict(row) {
    const made = element("div", "verdict");
    if (row.failure) {
      const { stage, kind, detail } = row.failure;
      made.append(element("p", "failure", element("strong", "", ...visible(`${stage}: ${kind}`)), element("br"), ...visible(detail)));
    }
    if (row.judgement) {
      const { label, genuine, judge, reply } = row.judgement;
      made.append(element("p", "", chip(row), element("span", "", genuine ? "" : " \u00b7 not genuine")));
      made.append(element("p", "meaning", ...visible(meanings.get(label) ?? "a label of another version")));
      made.append(element("p", "meaning", ...visible(`judged by ${judge}`)));
      if (reply) made.append(folded("Reply of the judge", reply));
    }
    return made;
  }

  // ---- filters and keys -------------------------------------------------------------------------------------------

  function choice(name, title, options) {
    const select = element("select", "");
    for (const [value, text] of [["", "all"], ...options]) {
      const option = element("option", "", ...[text]);
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
      const choices = element("div", "choices", ...boxes.map(([, label]) => label));
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
    );
    if (several) {
      const [input, label] = box(["only where runs differ"], "differ", false);
      controls.differ = input;
      form.append(label);
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", refresh);
    form.hidden = false;
  }

  /** "/" goes to the search; up and down, or k and j, go through the list; Escape closes a dialogue. */
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
})();
