// One open dialogue: what the runs share is shown once, then each run's answer, user turn and verdict side by side.

function opened(dialogue) {
  const rows = chosenRuns().map((run) => dialogue.rows.get(run)).filter(Boolean);
  const first = rows[0];
  const meta = [headings.get(first.task) ?? first.task, settings[first.setting], `id ${first.id}`];
  if (first.reference !== null) meta.push(`reference: ${first.reference}`);
  if (first.gated) meta.push("text withheld: gated data set");
  const made = element("div", "opened", element("p", "meta", ...visible(meta.filter(Boolean).join(" \u00b7 "))));
  const context = first.messages.slice(0, first.answer ?? first.turn ?? first.messages.length);
  made.append(...context.map((m) => message(m, m.role === "user" ? "User" : "System")));
  const together = sameAnswer(rows);
  if (together) made.append(message(first.messages[first.answer], "Answer, the same in these runs", "answer", first));
  made.append(element("div", "runs", ...rows.map((row) => column(row, !together))));
  return made;
}

/** Whether several runs share one answer, as in the held-out and the cross condition. */
function sameAnswer(rows) {
  const answers = rows.map((row) => (row.answer === null ? null : row.messages[row.answer]));
  const [one, ...others] = answers;
  return others.length > 0 && answers.every((m) => m !== null && m.text === one.text && m.by === one.by);
}

function column(row, withAnswer) {
  const made = element("section", "run");
  if (several) made.append(element("p", "run-name", element("span", "tag", runs[row.run].tag), ...visible(runs[row.run].name)));
  if (withAnswer && row.answer !== null) made.append(message(row.messages[row.answer], "Answer", "answer", row));
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
    made.append(element("p", "meaning", ...visible(meanings.get(label) ?? "a label from another version")));
    made.append(element("p", "meaning", ...visible(`judged by ${judge}`)));
    if (reply) made.append(folded("Reply of the judge", reply));
  }
  return made;
}
