/// The synthetic tone of `AudioContinuous`: four harmonics above the haptic band.
enum AudioTone {
  /// Amplitude of the fundamental at full volume.
  static let level = 0.5
  /// Harmonics; each has 1/n of the fundamental's amplitude, times brightnessⁿ⁻¹.
  static let harmonicCount = 4
  /// The highest frequency a partial may reach, as a share of the rate, so that nothing folds back.
  static let highestShareOfRate = 0.45

  /// The frequency at pitch 0: an octave above the top of the haptic band; pitch ±1 is an octave.
  static func middleHertz(of profile: TransducerProfile) -> Double { 2 * profile.frequency.high }
}
