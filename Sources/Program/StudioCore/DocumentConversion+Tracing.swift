internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import Reading
internal import SignalAnalysis
internal import SoundTracing

extension DocumentConversion {
  private static let untraceableSoundRule = Rule.error(
    "sound-untraceable", "syntax",
    "A sound can last at most an hour, with a sample rate of 500 Hz to 1 MHz.")

  /// Traces a sound to an AHAP file. The profile is that of the recording, or that of the hardware
  /// for which the pattern is meant.
  static func traceSound(_ sound: Signal, named name: String, _ profile: TransducerProfile)
    throws(InputError) -> SourceFile
  {
    let pattern: HapticPattern
    do {
      pattern = try SoundTrace(of: sound, profile: profile).pattern
    } catch {
      throw InputError(
        Finding(Self.untraceableSoundRule, location: FileLocation(name: name), error.description))
    }
    return SourceFile(
      try writeComposition(HapticComposition(pattern), as: .ahap, name: name).bytes, name: name)
  }
}
