// Keys press the buttons of the page; a decision is saved before the page moves on.
"use strict";

const keyed = new Map([...document.querySelectorAll("[data-key]")].map((button) => [button.dataset.key, button]));
const status = document.getElementById("status");
let saving = Promise.resolve(true); // resolves to whether the last decision is saved; later actions wait for it
let leaving = false;

/** Seconds for which this page was visible since the last decision on it. */
const clock = {
  spent: 0,
  since: document.hidden ? null : performance.now(),
  turn() {
    this.spent += this.since === null ? 0 : performance.now() - this.since;
    this.since = document.hidden ? null : performance.now();
  },
  take() {
    this.turn();
    const seconds = this.spent / 1000;
    this.spent = 0;
    return seconds;
  },
};
document.addEventListener("visibilitychange", () => clock.turn());

function tell(text, failed = false) {
  status.textContent = text;
  status.classList.toggle("problem", failed);
}

async function save(form, button) {
  const fields = new URLSearchParams(button.name ? [[button.name, button.value]] : []);
  const seconds = clock.take();
  fields.set("seconds", seconds.toFixed(2));
  try {
    const answer = await fetch(form.action, { method: "POST", body: fields, keepalive: true });
    if (!answer.ok) throw new Error(`the bench refused it (${answer.status} ${answer.statusText})`);
    lead(answer.url, button);
    return true;
  } catch (error) {
    clock.spent += 1000 * seconds;
    const why = error instanceof TypeError ? "the bench does not answer" : error.message;
    tell(`Not saved: ${why}. Start the command again and open the new address.`, true);
    return false;
  }
}

/** Follow the redirect of the saved decision, or show it here while the other decision is open. */
function lead(address, button) {
  if (button.name) {
    for (const other of button.form.querySelectorAll("button")) other.ariaPressed = String(other === button);
  }
  const decided = ["genuine", "label"].every((name) => document.querySelector(`[name=${name}][aria-pressed=true]`));
  if (!button.name || decided || address !== location.href) {
    leave(address);
    return;
  }
  keyed.get("u").disabled = false;
  tell("Saved; one of the two decisions is still open.");
}

function leave(address) {
  leaving = true;
  location.assign(address);
}

if (status) {
  document.addEventListener("submit", (event) => {
    event.preventDefault();
    saving = saving.then(() => leaving || save(event.target, event.submitter));
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a:not(.skip)");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    saving = saving.then((saved) => {
      if (saved && !leaving) leave(link.href);
      return true;
    });
  });
}

/** The name of a key: digits by their position, because some keyboards need Shift for them. */
function named(event) {
  return /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1] ?? event.key.toLowerCase();
}

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLInputElement) return;
  const pressed = keyed.get(named(event));
  if (!pressed || leaving) return;
  event.preventDefault();
  pressed.click();
});
