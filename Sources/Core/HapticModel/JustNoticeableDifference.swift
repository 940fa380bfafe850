/// The just-noticeable differences of level, frequency, and time, from publications.
///
/// They depend on the body site, the person, and the level. Temblor uses them to rank differences
/// and to flag those that are probably imperceptible; they are not a guarantee.
public enum JustNoticeableDifference {
  /// The just-noticeable difference of level, in decibels.
  ///
  /// Craig, "Difference threshold for intensity of tactile stimuli", Perception & Psychophysics 11
  /// (1972): about 1.5 dB; Israr and Tan, "Tactual frequency and amplitude discrimination with
  /// fixed and roving background", IEEE Haptics Symposium 2006: 2.2–2.5 dB.
  public static let levelDecibels = 1.5

  /// The just-noticeable difference of frequency, in percent.
  ///
  /// Israr and Tan 2006, as above: Weber fractions of 0.18–0.25 from 2 to 200 Hz.
  public static let frequencyPercent = 18.0

  /// The just-noticeable difference of time, in seconds.
  ///
  /// Friberg and Sundberg, "Time discrimination in a monotonic, isochronous sequence", JASA 98
  /// (1995): 6 ms for one of a row of beats. Gescheider, "Resolving of successive clicks by the
  /// ears and skin", J. Exp. Psychology 71 (1966): the skin resolves clicks about 10 ms apart.
  public static let timeSeconds = 0.006

  /// The maximum level of an imperceptible start or end of a sound, in dBFS.
  public static let perceptionFloorDecibels = -60.0
}
