"use strict";
// Everything the server sends is data: it goes into text nodes and nowhere else.

const byId = (id) => document.getElementById(id);
let state = { choices: [], decisions: [] };
let current = 0;
let busy = false;

async function ask(path, options) {
  const answer = await fetch(path, options);
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error || `status ${answer.status}`);
  return data;
}

function asText(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 1);
}

function show(id, value) {
  const text = asText(value);
  byId(id).textContent = text;
  const box = byId(`${id}-box`);
  if (box) box.hidden = !text;
  return text;
}

function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function verdictRow(judge, verdict, reason) {
  const row = document.createElement("tr");
  row.append(element("td", judge), element("td", verdict, verdict === "no verdict" ? "none" : verdict), element("td", reason));
  return row;
}

function showVerdicts(item) {
  const rows = [];
  const rule = item.rule;
  if (rule && typeof rule === "object") {
    const verdict = rule.verdict === "correct" || rule.verdict === "incorrect" ? rule.verdict : "no verdict";
    rows.push(verdictRow("rule", verdict, [rule.choice ? `reads ${asText(rule.choice)}` : "", asText(rule.reason)].filter(Boolean).join("; ")));
  }
  for (const vote of Array.isArray(item.votes) ? item.votes : []) {
    const verdict = vote.verdict === true ? "correct" : vote.verdict === false ? "incorrect" : "no verdict";
    const reading = vote.choice === undefined || vote.choice === null ? "" : `reads ${vote.choice || "no option"}`;
    rows.push(verdictRow(asText(vote.judge), verdict, [reading, asText(vote.reason), asText(vote.reply)].filter(Boolean).join("; ")));
  }
  byId("verdicts").replaceChildren(...rows);
}

async function showPictures(number) {
  const place = byId("pictures");
  place.replaceChildren();
  try {
    const { count } = await ask(`image/${number}/count`);
    if (number !== current) return;
    for (let index = 0; index < count; index += 1) {
      const picture = document.createElement("img");
      picture.src = `image/${number}/${index}`;
      picture.alt = `image ${index + 1} of ${count}`;
      picture.addEventListener("click", () => picture.classList.toggle("whole"));
      place.append(picture);
    }
  } catch (error) {
    if (number === current) place.replaceChildren(element("p", `No image: ${error.message}`));
  }
}

function showState() {
  const total = state.decisions.length;
  const decided = state.decisions.filter((decision) => decision !== null).length;
  byId("progress").max = total || 1;
  byId("progress").value = decided;
  byId("progress-text").textContent = `${decided} of ${total} decided`;
  for (const button of byId("choices").children) {
    button.setAttribute("aria-pressed", String(state.decisions[current] === button.dataset.choice));
  }
}

function unmasked(text) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)));
  } catch {
    return text;
  }
}

async function go(number) {
  if (number < 0 || number >= state.decisions.length) return;
  current = number;
  try {
    const item = await ask(`item/${number}`);
    if (number !== current) return;
    byId("place").textContent = `${number + 1}. ${item.task} / ${item.id}`;
    show("why", item.why);
    show("context", item.context);
    show("question", item.question);
    show("unit", item.unit ? `(${asText(item.unit)})` : "");
    // a masked gold is in clear on the page alone, not in the file behind it
    show("gold", item.gold_masked ? unmasked(item.gold) : item.gold);
    const answer = item.answer === undefined ? item.prediction : item.answer;
    const shown = show("answer", answer);
    show("explanation", item.explanation);
    const response = show("response", item.response);
    byId("response-box").hidden = !response || response === shown;
    byId("options").replaceChildren(...(Array.isArray(item.options) ? item.options : []).map((option) => element("li", asText(option))));
    showVerdicts(item);
    showState();
    window.scrollTo(0, 0);
    byId("message").textContent = "";
    document.body.dataset.shown = String(number);
    await showPictures(number);
  } catch (error) {
    byId("message").textContent = `The review server does not answer (${error.message}). Is it still running?`;
  }
}

function nextOpen(from) {
  const total = state.decisions.length;
  for (let step = 1; step <= total; step += 1) {
    const number = (from + step) % total;
    if (state.decisions[number] === null && number !== from) return number;
  }
  return null;
}

async function decide(choice) {
  if (busy || !state.choices.includes(choice)) return;
  busy = true;
  try {
    state = await ask("decide", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ number: current, decision: choice }),
    });
    showState();
    const next = nextOpen(current);
    if (next === null) {
      byId("message").textContent = state.decisions.includes(null) ? "Only this item is open." : "Every item is decided. You can close this page.";
    } else {
      await go(next);
    }
  } catch (error) {
    byId("message").textContent = `Not stored: ${error.message}`;
  } finally {
    busy = false;
  }
}

function openNext() {
  const next = nextOpen(current);
  if (next !== null) go(next);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const number = Number(event.key);
  if (Number.isInteger(number) && number >= 1 && number <= state.choices.length) {
    event.preventDefault();
    decide(state.choices[number - 1]);
  } else if (event.key === "ArrowLeft") {
    go(current - 1);
  } else if (event.key === "ArrowRight") {
    go(current + 1);
  } else if (event.key === "n") {
    openNext();
  }
});

async function start() {
  byId("back").addEventListener("click", () => go(current - 1));
  byId("forward").addEventListener("click", () => go(current + 1));
  byId("open").addEventListener("click", openNext);
  try {
    state = await ask("state");
  } catch (error) {
    byId("message").textContent = `The review server does not answer (${error.message}).`;
    return;
  }
  state.choices.forEach((choice, index) => {
    const button = element("button", choice);
    button.type = "button";
    button.dataset.choice = choice;
    button.prepend(element("kbd", String(index + 1)));
    button.addEventListener("click", () => decide(choice));
    byId("choices").append(button);
  });
  if (state.decisions.length === 0) {
    byId("message").textContent = "No item needs a review.";
    return;
  }
  const first = state.decisions.indexOf(null);
  if (first < 0) byId("message").textContent = "Every item is decided.";
  await go(Math.max(first, 0));
}

start();
