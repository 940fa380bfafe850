/// A gain that depends on the level of the sound.
enum LevelDependentGain: Equatable, Sendable {
  case automaticGainControl(AutomaticGainControl)
  case compressor(SoftKneeCompressor)

  /// The number of free parameters.
  var parameterCount: Int {
    switch self {
    case .automaticGainControl: 4
    case .compressor: 6
    }
  }

  /// Returns the signal before the gain.
  func undone(in recording: [Double], rate: Double) -> RestoredRecording {
    switch self {
    case .automaticGainControl(let gainControl): gainControl.undone(in: recording, rate: rate)
    case .compressor(let compressor): compressor.undone(in: recording, rate: rate)
    }
  }
}
