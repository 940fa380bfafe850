internal import Glibc
import SignalAnalysis
import SoundFile
internal import SystemSupport

/// Measures a sound file of any length on all cores, in some tens of megabytes.
struct SoundMeasurement {
  /// Seconds up to which a sound is searched for onsets.
  static let longestForOnsets = 60.0

  let container: String
  let encoding: String
  let rate: Double
  let frameCount: Int
  let whole: Levels
  let channels: [Levels]
  /// The spectrum of each channel.
  let spectra: [Spectrum]
  /// The attacks in the mean of the channels, where the sound is short enough.
  let onsets: [Onset]?

  /// Measures a file.
  ///
  /// - Parameter progress: Told now and then which share is done.
  /// - Throws: `FileError` or `SoundFileError`.
  init(_ path: String, progress: (Double) -> Void) throws {
    let descriptor = try FileSystem.open(path)
    defer { close(descriptor) }
    let crew = try SoundMeasurementWorkers(readingDescriptor: descriptor, path: path)
    container = crew.container
    encoding = crew.encoding
    rate = crew.rate
    let promised = max(1, Double(crew.promisedFrameCount))
    var frames = 0
    var kept: [Float]? = []
    let most = Int(Self.longestForOnsets * rate)
    var block = try crew.firstBlock()
    while !block.isEmpty {
      let count = block.count / crew.channelCount
      if frames + count > most { kept = nil }
      if kept != nil { kept?.append(contentsOf: Self.mean(block, crew.channelCount)) }
      block = try crew.measure(block)
      frames += count
      progress(min(1, Double(frames) / promised))
    }
    guard frames > 0 else {
      throw SoundFileError(kind: .notSound, path: path, description: "contains no audio")
    }
    frameCount = frames
    (whole, channels, spectra) = crew.finish()
    onsets = kept.map { Onsets.find(in: $0, rate: crew.rate) }
  }

  /// The mean of interleaved channels, as `Signal.mono` makes it.
  private static func mean(_ block: [Float], _ channelCount: Int) -> [Float] {
    if channelCount == 1 { return block }
    return Signal(interleaved: block, channelCount: channelCount, rate: 1).mono
  }
}
