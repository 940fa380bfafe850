internal import Glibc
public import SignalAnalysis
public import SoundFile
internal import Synchronization
internal import SystemSupport

/// Measures a sound file of any length on all cores, in some tens of megabytes.
public struct SoundMeasurement {
  /// Seconds up to which a sound is searched for onsets.
  static let longestForOnsets = 60.0

  /// The kind of file, as libsndfile calls it.
  public let container: String
  /// The encoding of samples, as libsndfile calls it.
  public let encoding: String
  /// Frames per second.
  public let rate: Double
  /// Frames in the file.
  public let frameCount: Int
  /// How much less than announced the file holds, if it does.
  public let truncation: SoundTruncation?
  /// The figures of all channels together.
  public let whole: Levels
  /// The figures of each channel.
  public let channels: [Levels]
  /// The spectrum of each channel.
  public let spectra: [Spectrum]
  /// The attacks in the mean of the channels, where the sound is short enough.
  public let onsets: [Onset]?

  /// Measures a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - progress: Called now and then with the share that is done.
  /// - Throws: `FileError` or `SoundFileError`.
  public init(_ path: String, progress: (Double) -> Void) throws {
    let descriptor = try FileSystem.open(path)
    defer { close(descriptor) }
    truncation = SoundTruncation(readingDescriptor: descriptor)
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
    guard frames > 0 else { throw SoundFileError(kind: .notSound, path: path, description: "contains no audio") }
    frameCount = frames
    (whole, channels, spectra) = crew.finish()
    onsets = kept.map { Array(Onsets(in: Signal($0, rate: crew.rate))) }
  }

  /// The mean of interleaved channels, as `Signal.mono` makes it.
  private static func mean(_ block: [Float], _ channelCount: Int) -> [Float] {
    if channelCount == 1 { return block }
    return Signal(interleaved: block, channelCount: channelCount, rate: 1).mono
  }
}

/// Shares the measurement of a sound among threads: while a block is measured, the next is read.
final class SoundMeasurementWorkers: Sendable {
  /// Samples of a block: 8 MiB, for some 20 ms of work.
  private static let blockSize = 1 << 21

  let channelCount: Int
  let rate: Double
  let container: String
  let encoding: String
  /// Frames the file's header promises.
  let promisedFrameCount: Int64
  private let reading: Mutex<Reading>
  private let loudness: Mutex<LoudnessMeasurement>
  private let channels: [Channel]

  /// The file and the block that was read last.
  private struct Reading: ~Copyable {
    var reader: SoundFileReader
    var block: [Float] = []
    var fault: SoundFileError?

    /// Reads the next block; an empty one is the end.
    mutating func next() {
      let size = max(1, blockSize / reader.channelCount) * reader.channelCount
      var samples = [Float](repeating: 0, count: size)
      var span = samples.mutableSpan
      do {
        let count = try reader.read(into: &span)
        samples.removeLast(size - count * reader.channelCount)
        block = samples
      } catch {
        fault = error
        block = []
      }
    }
  }

  /// One channel, measured by one thread at a time.
  private final class Channel: Sendable {
    let measurement: Mutex<ChannelMeasurement>
    init(rate: Double) { measurement = Mutex(ChannelMeasurement(rate: rate)) }
  }

  /// Opens the sound in an open file.
  ///
  /// - Throws: `SoundFileError` or `FileError`.
  init(readingDescriptor descriptor: Int32, path: String) throws {
    let reader = try SoundFileReader(readingDescriptor: descriptor, path: path)
    let rate = reader.rate
    let count = reader.channelCount
    channelCount = count
    self.rate = rate
    container = reader.container
    encoding = reader.encoding
    promisedFrameCount = reader.frameCount
    do throws(AnalysisError) { loudness = Mutex(try LoudnessMeasurement(channelCount: count, rate: rate)) } catch {
      throw FileError(path, error.description)
    }
    channels = (0..<count).map { _ in Channel(rate: rate) }
    reading = Mutex(Reading(reader: reader))
  }

  /// Reads the first block.
  func firstBlock() throws(SoundFileError) -> [Float] {
    reading.withLock { $0.next() }
    return try readBlock()
  }

  /// Measures a block and answers the next one, which is empty at the end.
  func measure(_ block: [Float]) throws(SoundFileError) -> [Float] {
    // The longest pieces first, so that none is left alone at the end.
    WorkerPool.run(channelCount + 2) { [self] piece in
      switch piece {
      case 0: loudness.withLock { $0.add(block.span) }
      case 1: reading.withLock { $0.next() }
      default:
        channels[piece - 2].measurement.withLock { $0.add(block.span, channel: piece - 2, channelCount: channelCount) }
      }
    } meanwhile: { _ in
    }
    return try readBlock()
  }

  /// The figures of the whole and of each channel.
  func finish() -> (whole: Levels, channels: [Levels], spectra: [Spectrum]) {
    var levels: [Levels] = []
    var spectra: [Spectrum] = []
    for channel in channels {
      let (own, spectrum) = channel.measurement.withLock { $0.finish() }
      levels.append(own)
      if let spectrum { spectra.append(spectrum) }
    }
    let whole = Levels(joining: levels, integratedLoudness: loudness.withLock { $0.finish() })
    return (whole, levels, spectra)
  }

  private func readBlock() throws(SoundFileError) -> [Float] {
    let (block, fault) = reading.withLock { ($0.block, $0.fault) }
    if let fault { throw fault }
    return block
  }
}
