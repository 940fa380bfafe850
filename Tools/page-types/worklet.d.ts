// The global scope of an audio worklet.

declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: object): void;
declare const sampleRate: number;
declare const currentTime: number;
