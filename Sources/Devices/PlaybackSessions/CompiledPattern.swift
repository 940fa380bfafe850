package import HapticModel
package import HapticPlayback
package import HapticRender

/// A pattern that is compiled for the haptic buses of an engine.
package struct CompiledPattern: Sendable {
  package var name: String
  /// The compiled plans, one for each haptic bus.
  package var plansByHapticBus: [RenderPlan]
  /// The duration of the pattern, in seconds.
  package var durationSeconds: Double
  /// The time from the start until the pattern has ended and its output is silent, in seconds.
  package var secondsUntilSilence: Double {
    plansByHapticBus.map(\.durationSeconds).max() ?? durationSeconds
  }
  /// The names of the body locations that are mixed, because no bus is assigned to an individual
  /// location. The array is empty if the locations play separately, or if the pattern does not
  /// address several locations.
  package var mixedLocationNames: [String]

  package init(
    name: String, plansByHapticBus: [RenderPlan], duration: Double,
    mixedLocationNames: [String] = []
  ) {
    self.name = name
    self.plansByHapticBus = plansByHapticBus
    self.durationSeconds = duration
    self.mixedLocationNames = mixedLocationNames
  }

  package init(name: String, _ pattern: HapticPattern, for engine: PlaybackEngine) throws {
    self.init(
      name: name,
      plansByHapticBus: try engine.profiles.map {
        try RenderPlan(compiling: pattern, profile: $0, rate: engine.rate)
      },
      duration: pattern.durationSeconds)
  }
}
