// The example page in Chromium: TEMBLOR_PACKAGE names the folder of the package.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";

const folder = process.env.TEMBLOR_PACKAGE;
const chromium = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find(existsSync);
const types = { html: "text/html", mjs: "text/javascript", js: "text/javascript", wasm: "application/wasm" };
/** The timeout of each wait, in milliseconds. */
const patience = 60000;

/** Serves the files of the package on a free port of this computer. */
async function serve() {
  const server = createServer((request, answer) => {
    const file = join(folder, basename(request.url));
    if (!existsSync(file)) return answer.writeHead(404).end();
    answer.writeHead(200, { "Content-Type": types[file.split(".").at(-1)] ?? "text/plain" });
    return answer.end(readFileSync(file));
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  return server;
}

/** A headless Chromium with one page, controlled through its debugging pipe. */
class Browser {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "temblor-web-"));
    this.process = spawn(chromium, [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--disable-audio-output", "--disable-background-networking", "--remote-debugging-pipe",
      `--user-data-dir=${this.folder}`, "about:blank",
    ], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], detached: true });
    this.waiting = new Map();
    this.lastID = 0;
    let received = Buffer.alloc(0);
    this.process.stdio[4].on("data", (piece) => {
      received = Buffer.concat([received, piece]);
      for (let end = received.indexOf(0); end >= 0; end = received.indexOf(0)) {
        const message = JSON.parse(received.subarray(0, end).toString());
        received = received.subarray(end + 1);
        this.waiting.get(message.id)?.(message);
        this.waiting.delete(message.id);
      }
    });
  }
  async call(method, params = {}) {
    const id = ++this.lastID;
    const answer = new Promise((resolve) => { this.waiting.set(id, resolve); });
    const message = { id, method, params, sessionId: this.session };
    this.process.stdio[3].write(`${JSON.stringify(message)}\0`);
    const { result, error } = await answer;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }
  async open(url) {
    const { targetId } = await this.call("Target.createTarget", { url });
    this.session = (await this.call("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  }
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.call(
      "Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true, userGesture: true }
    );
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? "exception");
    return result.value;
  }
  /** Waits until an expression has a value. */
  async wait(expression, value) {
    const end = Date.now() + patience;
    let last;
    while (Date.now() < end) {
      last = await this.evaluate(expression);
      if (last === value) return;
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
    assert.equal(last, value);
  }
  end() {
    process.kill(-this.process.pid, "SIGKILL");
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const skip = chromium ? false : "Chromium is not installed";
test("The example plays its pattern at a click", { skip }, async () => {
  const server = await serve();
  const browser = new Browser();
  try {
    await browser.open(`http://127.0.0.1:${server.address().port}/example.html`);
    const status = "document.getElementById('status')?.textContent";
    await browser.wait(status, "Ready");
    await browser.evaluate(`globalThis.AudioContext = class extends AudioContext {
      constructor(...values) { super(...values); globalThis.context = this; }
    }; 0`);
    await browser.evaluate("document.getElementById('play').click()");
    await browser.wait(status, "Played");
    // The audio thread sleeps until the next play.
    await browser.wait("context.state", "suspended");
    await browser.evaluate("document.getElementById('play').click()");
    await browser.wait("context.state", "running");
    await browser.wait(status, "Played");
    const result = await browser.evaluate(`import("./temblor.mjs").then(async ({ load, play, set, stop }) => {
      const one = await load({ Version: 1, Pattern: [{ Event: {
        Time: 0, EventDuration: 20, EventType: "HapticContinuous", EventParameters: [] } }] });
      const made = await play(one, { loop: true, intensity: 0.5 });
      set(made, { sharpness: -1 });
      const before = made.isPlaying;
      stop(made);
      await made.ended;
      return [before, made.isPlaying, typeof navigator.vibrate].join();
    })`);
    assert.equal(result, "true,false,function");
  } finally {
    browser.end();
    server.close();
  }
});
