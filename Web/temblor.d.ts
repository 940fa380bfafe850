/** Temblor for web pages and node: haptic patterns, rendered as the program renders them. */

/** A file that cannot be read, or an argument that is not valid. */
export class TemblorError extends Error {
  readonly line?: number;
  readonly column?: number;
  readonly rule?: string;
}

/** An event of a pattern. Times are in seconds. */
export interface PatternEvent {
  readonly kind: "HapticTransient" | "HapticContinuous" | "AudioContinuous" | "AudioCustom";
  readonly time: number;
  readonly duration: number;
  readonly intensity?: number;
  readonly sharpness?: number;
  readonly file?: string;
  /** Time, intensity, and sharpness at each corner, after curves and parameters. */
  readonly corners: number[];
}

/** A pattern that was read. */
export interface Pattern {
  readonly name: string;
  readonly duration: number;
  /** The ID of the format of the file, such as `ahap`. */
  readonly format: string;
  readonly events: PatternEvent[];
}

/** A problem of a pattern, with its location in the text. */
export interface Finding {
  readonly severity: "error" | "warning" | "note";
  readonly rule: string;
  readonly message: string;
  readonly hint?: string;
  readonly line?: number;
  readonly column?: number;
  readonly place: string;
}

/**
 * The name of a shipped profile, or a profile as JSON. The default is `phone`. The first profile
 * except `phone` and `speaker` loads the module with all formats and profiles.
 */
export type Profile = string | object;

/** A pattern that is playing. */
export interface Play {
  readonly isPlaying: boolean;
  /** Resolves when the pattern has ended or was stopped. */
  readonly ended: Promise<void>;
}

/** Live controls: `intensity` 0 to 1 is a factor; `sharpness` -1 to 1 is added. */
export interface Controls {
  intensity?: number;
  sharpness?: number;
}

/**
 * Reads a pattern of any format: a file, its bytes or text, or AHAP as an object. The first pattern
 * that is not AHAP loads the module with all formats.
 */
export function load(
  source: string | Uint8Array | ArrayBuffer | Blob | Response | object, options?: { name?: string }
): Promise<Pattern>;

/**
 * Returns the findings of `temblor check --profile`, in the order of the text. The first check loads
 * the module with all formats and profiles.
 */
export function check(pattern: Pattern, options?: { profile?: Profile }): Promise<Finding[]>;

/** Renders a pattern on one channel. The samples are those of `temblor render`. */
export function render(
  pattern: Pattern, options?: { profile?: Profile; rate?: number }
): Promise<Float32Array>;

/**
 * Plays a pattern: as sound, by the vibration of a phone (on or off), or on the motors of a gamepad.
 * Browsers start sound and vibration only during a click or key press. The start, the loop, and the
 * controls apply to all outputs.
 */
export function play(pattern: Pattern, options?: {
  profile?: string;
  /** The start position in seconds. */
  at?: number;
  loop?: boolean;
  output?: "sound" | "vibration" | Gamepad;
} & Controls): Promise<Play>;

/** Ends a play. */
export function stop(play: Play): void;

/** Sets live controls of a play. */
export function set(play: Play, controls: Controls): void;

/**
 * Writes a pattern in a format, such as `ahap`, `haptic`, or `android-xml`. The first conversion
 * loads the module with all formats.
 */
export function convert(pattern: Pattern, format: string): Promise<{
  bytes: Uint8Array;
  losses: { message: string; line?: number }[];
}>;

/** Compares the sounds of two patterns. */
export function compare(
  first: Pattern, second: Pattern, options?: { profile?: Profile; rate?: number }
): Promise<{
  isIdentical: boolean;
  /** The maximum difference of a sample; 1 is full scale. */
  peak: number;
  /** The level of the difference relative to the first sound, in decibels. */
  level: number;
  /** The time of the first difference in seconds, or null. */
  time: number | null;
}>;
