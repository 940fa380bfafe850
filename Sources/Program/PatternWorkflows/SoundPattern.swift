internal import HapticModel
internal import SignalAnalysis
internal import SystemSupport

/// A sound file as a pattern of sampled signals, such as the vibration of a console or a headset.
///
/// Channels that differ become body locations. Channels that do not differ become one signal that
/// is felt everywhere.
enum SoundPattern {
  /// The maximum number of channels that become body locations.
  static let maximumLocationCount = 64

  /// Reads the sound file of an input; nil if the input is not a sound file.
  ///
  /// - Throws: `FileError` or `SoundFileError`.
  static func composition(of input: PatternInput) throws -> HapticComposition? {
    guard case .file(let path) = input.origin, TakeInput.isSoundFile(path) else { return nil }
    let signal = try TakeInput.readSignal(path)
    let channels = input.soundChannels ?? Array(signal.channels.indices)
    guard channels.allSatisfy(signal.channels.indices.contains) else {
      throw FileError(
        path,
        """
        has \(signal.channels.count) channels; '--input-channels' is \
        \(channels.map { "\($0 + 1)" }.joined(separator: ","))
        """)
    }
    let chosen = Signal(channels: channels.map { signal.channels[$0] }, rate: signal.rate)
    func layer(_ samples: [Float], at location: HapticComposition.BodyLocation?)
      -> HapticComposition.Layer
    {
      HapticComposition.Layer(
        HapticPattern(), signals: [SampledSignal(time: 0, rate: signal.rate, samples: samples)],
        name: location?.name ?? "", bodyLocation: location)
    }
    guard chosen.hasDifferingChannels else {
      return HapticComposition(layers: [layer(chosen.mono, at: nil)])
    }
    guard channels.count <= maximumLocationCount else {
      throw FileError(
        path,
        """
        has \(channels.count) channels that differ; choose up to \(maximumLocationCount) with \
        '--input-channels'
        """)
    }
    let layers = channels.indices.map { index in
      let location = HapticComposition.BodyLocation(
        index + 1, of: channels.count, name: "channel \(channels[index] + 1)")
      return layer(chosen.channels[index], at: location)
    }
    return HapticComposition(layers: layers)
  }
}
