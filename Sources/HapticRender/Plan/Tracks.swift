import HapticModel

/// The controls that act while a voice sounds, in the order of their tracks in a plan.
enum Track: Int, CaseIterable {
  case hapticIntensity, hapticSharpness, audioVolume, audioPitch, audioBrightness, audioPan

  /// The dynamic parameter of the track.
  var id: DynamicParameterID {
    switch self {
    case .hapticIntensity: .hapticIntensityControl
    case .hapticSharpness: .hapticSharpnessControl
    case .audioVolume: .audioVolumeControl
    case .audioPitch: .audioPitchControl
    case .audioBrightness: .audioBrightnessControl
    case .audioPan: .audioPanControl
    }
  }
}

/// Where the four controls of one bus stand among a plan's control pieces.
///
/// The haptic bus has no brightness and pan; its two last cursors rest on neutral pieces.
struct TrackCursors: BitwiseCopyable, Sendable {
  /// Intensity, or volume.
  var strength: Int32
  /// Sharpness, or pitch.
  var tone: Int32
  /// Brightness.
  var brightness: Int32
  /// Pan.
  var pan: Int32

  /// Four places.
  @_noLocks
  init(strength: Int32, tone: Int32, brightness: Int32, pan: Int32) {
    self.strength = strength
    self.tone = tone
    self.brightness = brightness
    self.pan = pan
  }
}

/// Where the tracks of one layer stand among a plan's control pieces.
struct LayerTracks: BitwiseCopyable, Sendable {
  var haptic: TrackCursors
  var audio: TrackCursors
}
