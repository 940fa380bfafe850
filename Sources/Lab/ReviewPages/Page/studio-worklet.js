// The audio thread of the studio: an instance of the module with a renderer and two synchronized
// players.

/** The number of bytes of a plan that are copied in each audio block. */
const pieceLength = 1 << 18;

class Studio extends AudioWorkletProcessor {
  constructor({ processorOptions }) {
    super();
    this.core = new Core(
      new WebAssembly.Instance(new WebAssembly.Module(processorOptions.module), {})
    );
    this.live = this.core.calls;
    this.live.liveStart(sampleRate);
    if (processorOptions.profile) this.core.addProfile(processorOptions.profile);
    /** The patterns to read before the next block, with the latest pattern of each slot. */
    this.next = [null, null];
    /** The plan that is being copied, and the number of copied bytes. */
    this.feed = null;
    this.isPlaying = false;
    this.wasHeard = false;
    this.blocks = 0;
    this.port.onmessage = ({ data }) => this.take(data);
    this.port.postMessage({ isReady: true });
  }

  take(message) {
    const acts = {
      load: () => { this.next[message.slot] = message; },
      sound: () => this.core.sound(message),
      play: () => this.play(message),
      stop: () => this.stop(),
      loop: () => this.live.liveLoop(message.isOn ? 1 : 0, message.start, message.end),
      hear: () => this.hear(message.slot),
      control: () => this.live.liveControl(message.which, message.value),
    };
    acts[message.do]();
  }

  play({ frame, number }) {
    this.read();
    this.playNumber = number;
    this.isPlaying = true;
    this.wasHeard = this.hasStarted = false;
    this.live.livePlay(1, frame);
  }

  hear(slot) {
    this.hasStarted = false;
    this.live.liveHear(slot);
  }

  stop() {
    this.isPlaying = false;
    this.live.livePlay(0, 0);
  }

  /** Loads the patterns received since the last block, at the position of the previous pattern. */
  read() {
    for (const slot of [0, 1]) {
      const message = this.next[slot];
      if (!message) continue;
      this.next[slot] = null;
      if (!message.plan) this.core.liveLoad(slot, message.text, message.profile);
      else this.feed = {
        ...message, address: this.live.livePlanInput(message.plan.length), done: 0
      };
    }
  }

  /** Copies the next part of a plan, so that no block takes too long. A complete plan is loaded. */
  readPiece() {
    const { slot, plan, profile, address, done } = this.feed;
    this.core.putPlan(address + done, plan.subarray(done, done + pieceLength));
    this.feed.done += pieceLength;
    if (this.feed.done < plan.length) return;
    this.live.livePlan(slot, plan.length, profile);
    this.feed = null;
  }

  process(_, [channels]) {
    if (this.feed) this.readPiece();
    else this.read();
    const block = this.core.liveRender(channels[0].length);
    for (const channel of channels) channel.set(block);
    if (this.isPlaying && !this.wasHeard && block.some((sample) => sample !== 0)) {
      this.wasHeard = true;
      this.port.postMessage({ heardAt: currentTime });
    }
    if (++this.blocks % 8 === 0) {
      const isRunning = this.live.livePhase() === 1;
      this.hasStarted ||= isRunning;
      const hasEnded = this.isPlaying && this.hasStarted && !isRunning;
      if (hasEnded) this.isPlaying = false;
      this.port.postMessage({
        frame: this.live.livePosition(), time: currentTime, hasEnded, play: this.playNumber,
      });
    }
    return true;
  }
}

registerProcessor("temblor-studio", Studio);
