internal import HapticModel
public import SignalAnalysis
public import SystemSupport

/// A reader of a sound file as a pattern of sampled signals, such as the vibration of a console or
/// a headset.
///
/// Channels that differ become body locations. Channels that do not differ become one signal that
/// is felt everywhere.
enum SoundPattern {
  /// The maximum number of channels that become body locations.
  static let maximumLocationCount = 64

  /// Reads the sound file of an input. Returns nil if the input is not a sound file.
  ///
  /// - Throws: `FileError` or `SoundFileError`.
  static func readComposition(of input: PatternInput) throws -> HapticComposition? {
    let path: String
    switch input.origin {
    case .file(let filePath): path = filePath
    case .standardInput: path = InputStream.standardInput
    case .shipped: return nil
    }
    guard TakeInput.isSoundFile(path) else { return nil }
    let signal = try TakeInput.readSignal(path)
    let channels = input.soundChannels ?? Array(signal.channels.indices)
    let chosen = try signal.selectingChannels(channels, path: input.name)
    func layer(_ samples: [Float], at location: HapticComposition.BodyLocation?)
      -> HapticComposition.Layer
    {
      HapticComposition.Layer(
        HapticPattern(),
        signals: [SampledSignal(startSeconds: 0, sampleRate: signal.rate, samples: samples)],
        name: location?.name ?? "", bodyLocation: location)
    }
    guard chosen.hasDifferingChannels else {
      return HapticComposition(layers: [layer(chosen.mono, at: nil)])
    }
    guard channels.count <= maximumLocationCount else {
      throw FileError(
        input.name,
        """
        has \(channels.count) different channels; select up to \(maximumLocationCount) with \
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

extension Signal {
  /// Returns a signal that contains the selected channels of a sound file.
  ///
  /// - Parameters:
  ///   - indices: The indices of the channels, in the order of the result.
  ///   - path: The path of the sound file, for the error.
  /// - Throws: `FileError` if the sound file has fewer channels.
  public func selectingChannels(_ indices: [Int], path: String) throws(FileError) -> Signal {
    guard indices.allSatisfy(channels.indices.contains) else {
      let count = channels.count == 1 ? "1 channel" : "\(channels.count) channels"
      let numbers = indices.map { "\($0 + 1)" }.joined(separator: ",")
      throw FileError(path, "has \(count), but '--input-channels' is \(numbers)")
    }
    return Signal(channels: indices.map { channels[$0] }, rate: rate)
  }
}
