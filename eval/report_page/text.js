// Text on the page: always text nodes, with invisible characters in boxes and search matches marked.

const UNSEEN = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const OF_EMOJI = /\p{Extended_Pictographic}\ufe0f?(?:\u200d\p{Extended_Pictographic}\ufe0f?)+|\p{Emoji}\ufe0f/gu;

function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

/** Text with invisible characters in boxes and search matches marked. */
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

const excerpt = (text) => visible(text.replace(/[ \n\t]+/g, " ").slice(0, 240));

/** Text for places where boxes are not possible. */
const spelled = (text) =>
  visible(text).map((piece) => (typeof piece === "string" ? piece : `\u27e6${piece.textContent}\u27e7`)).join("");
