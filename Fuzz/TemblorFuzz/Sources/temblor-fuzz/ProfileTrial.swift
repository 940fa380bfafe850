import Reading
import HapticModel
import HapticRender
import TransducerProfiles

/// Reads a text as a profile, and renders by it where it is one.
struct ProfileTrial {
  /// A few milliseconds of everything that a profile changes.
  private static let pattern = HapticPattern(
    events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: 0.01, parameters: [.hapticIntensity: 0.7]),
      HapticEvent(kind: .hapticTransient, time: 0.002, parameters: [.hapticSharpness: 1]),
      HapticEvent(kind: .hapticTransient, time: 0.004, parameters: [.hapticSharpness: 0]),
      HapticEvent(kind: .audioContinuous, time: 0.001, duration: 0.004),
    ],
    parameters: [DynamicParameter(id: .hapticIntensityControl, value: 0.1, time: 0.006)],
    curves: [
      ParameterCurve(
        id: .hapticSharpnessControl, time: 0,
        controlPoints: [.init(time: 0, value: -1), .init(time: 0.01, value: 1)])
    ])

  let text: [UInt8]

  /// Everything from the text to the sound.
  func run() {
    let examination = ProfileCheckResult(text: text, name: "t")
    for finding in examination.findings {
      requireOneLine(finding.description)
    }
    let profile = read(text)
    require(profile == examination.profile, "a profile is read and refused")
    guard let profile else { return }
    let written = ProfileFile.write(profile)
    require(read(written) == profile, "a profile changes when written and read")
    var rendering = RenderTrial(pattern: Self.pattern, profile: profile, choices: Choices(text))
    rendering.run()
  }

  private func read(_ text: [UInt8]) -> TransducerProfile? {
    do {
      return try ProfileFile.read(text: text, name: "t")
    } catch {
      requireOneLine(error.description)
      return nil
    }
  }
}
