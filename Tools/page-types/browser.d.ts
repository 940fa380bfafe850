// Interfaces of browsers that the type checker's own declarations do not have.

interface Window {
  showOpenFilePicker?(options?: object): Promise<any[]>;
  showSaveFilePicker?(options?: object): Promise<any>;
}
interface Gamepad { readonly vibrationActuator?: any }
interface Uint8ArrayConstructor { fromBase64?(text: string): Uint8Array }
interface Array<T> { findLastIndex(predicate: (value: T) => boolean): number }
interface LockOptions { signal?: AbortSignal }
declare class CompressionStream {
  constructor(format: string);
  readonly readable: ReadableStream;
  readonly writable: WritableStream;
}
declare class DecompressionStream {
  constructor(format: string);
  readonly readable: ReadableStream;
  readonly writable: WritableStream;
}
