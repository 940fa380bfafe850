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
    let soundPath: String
    switch input.origin {
    case .file(let filePath): soundPath = filePath
    case .standardInput: soundPath = InputStream.standardInput
    case .shipped: return nil
    }
    guard TakeInput.isSoundFile(soundPath) else { return nil }
    let soundSignal = try TakeInput.readSignal(soundPath)
    let channelIndices = input.soundChannels ?? Array(soundSignal.channels.indices)
    let selectedSignal = try soundSignal.selectingChannels(channelIndices, path: input.name)
    func makeLayer(_ samples: [Float], at location: HapticComposition.BodyLocation?)
      -> HapticComposition.Layer
    {
      HapticComposition.Layer(
        HapticPattern(),
        signals: [SampledSignal(startSeconds: 0, sampleRate: soundSignal.rate, samples: samples)],
        name: location?.name ?? "", bodyLocation: location)
    }
    guard selectedSignal.hasDifferingChannels else {
      return HapticComposition(layers: [makeLayer(selectedSignal.mono, at: nil)])
    }
    guard channelIndices.count <= maximumLocationCount else {
      throw FileError(
        input.name,
        """
        has \(channelIndices.count) different channels; select up to \(maximumLocationCount) with \
        '--input-channels'
        """)
    }
    let soundLayers = channelIndices.indices.map { index in
      let location = HapticComposition.BodyLocation(
        index + 1, of: channelIndices.count, name: "channel \(channelIndices[index] + 1)")
      return makeLayer(selectedSignal.channels[index], at: location)
    }
    return HapticComposition(layers: soundLayers)
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
