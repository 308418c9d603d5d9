// The rows of the page, grouped by dialogue, and the filters on them.

const byId = (id) => document.getElementById(id);
const vocabulary = JSON.parse(byId("vocabulary").textContent);
const { runs, states, settings } = vocabulary;
const headings = new Map(vocabulary.tasks);
const meanings = new Map(vocabulary.labels);
const places = new Map(vocabulary.labels.map(([label], place) => [label, place]));
const several = runs.length > 1;
const controls = {};

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

/** Changes of a row compared with the first of the chosen runs. */
const TURNS = {
  "follow-up gained": (was, now) => genuineOf(was) === "no" && genuineOf(now) === "yes",
  "follow-up lost": (was, now) => genuineOf(was) === "yes" && genuineOf(now) === "no",
  "answer became right": (was, now) => correctOf(was) === "wrong" && correctOf(now) === "right",
  "answer became wrong": (was, now) => correctOf(was) === "right" && correctOf(now) === "wrong",
};

function turned(dialogue, wanted) {
  const [first, ...others] = wanted.runs.map((run) => dialogue.rows.get(run));
  return first !== undefined && others.some((row) => row !== undefined && TURNS[wanted.turned](first, row));
}

function matches(dialogue, wanted) {
  if (wanted.turned && !turned(dialogue, wanted)) return false;
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

const words = () => controls.words.value.trim().toLowerCase();

function chip(row) {
  if (!row.judgement) return element("span", "chip failed", ...visible(row.failure ? row.failure.kind : row.state));
  const place = places.get(labelOf(row));
  const made = element("span", "chip", element("span", `swatch label-${place ?? "other"}`), ...visible(labelOf(row)));
  if (row.judgement.genuine) made.append(element("span", "genuine", "genuine"));
  return made;
}
