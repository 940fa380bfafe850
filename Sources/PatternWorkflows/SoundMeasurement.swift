internal import Glibc
public import SignalAnalysis
public import SoundFile
internal import Synchronization
internal import SystemSupport

/// Measures a sound file of any length on all cores, in some tens of megabytes.
public struct SoundMeasurement {
  /// Seconds up to which a sound is searched for onsets.
  static let longestForOnsets = 60.0

  /// The kind of file and the encoding of samples, as libsndfile calls them.
  public let container, encoding: String
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

  /// Measures a file, and reports the share that is done now and then; throws a `FileError` or `SoundFileError`.
  public init(_ path: String, progress: (Double) -> Void) throws {
    let descriptor = try FileSystem.open(path)
    defer { close(descriptor) }
    truncation = SoundTruncation(readingDescriptor: descriptor)
    let reader = try SoundFileReader(readingDescriptor: descriptor, path: path)
    (container, encoding, rate) = (reader.container, reader.encoding, reader.rate)
    let (channelCount, promised) = (reader.channelCount, max(1, Double(reader.frameCount)))
    let workers: SoundMeasurementWorkers
    do throws(AnalysisError) { workers = try SoundMeasurementWorkers(reader) } catch {
      throw FileError(path, error.description)
    }
    var frames = 0
    var kept: [Float]? = []
    var block = try workers.next()
    while !block.isEmpty {
      frames += block.count / channelCount
      if frames > Int(Self.longestForOnsets * rate) { kept = nil }
      kept?.append(contentsOf: Signal(interleaved: block, channelCount: channelCount, rate: rate).mono)
      block = try workers.next(measuring: block)
      progress(min(1, Double(frames) / promised))
    }
    guard frames > 0 else { throw SoundFileError(kind: .notSound, path: path, description: "contains no audio") }
    frameCount = frames
    (whole, channels, spectra) = workers.finish()
    onsets = kept.map { [rate] in Array(Onsets(in: Signal($0, rate: rate))) }
  }
}

/// Shares the measurement of a sound among threads: while a block is measured, the next is read.
private final class SoundMeasurementWorkers: Sendable {
  /// Samples of a block: 8 MiB, for some 20 ms of work.
  private static let blockSize = 1 << 21

  private let channelCount: Int
  private let reading: Mutex<Reading>
  private let loudness: Mutex<LoudnessMeasurement>
  private let channels: [Channel]

  /// The file and the block that was read last; an empty one is the end.
  private struct Reading: ~Copyable {
    var reader: SoundFileReader
    var block = Result<[Float], SoundFileError>.success([])

    mutating func next() {
      let size = max(1, blockSize / reader.channelCount) * reader.channelCount
      var samples = [Float](repeating: 0, count: size)
      var span = samples.mutableSpan
      do throws(SoundFileError) {
        let count = try reader.read(into: &span)
        samples.removeLast(size - count * reader.channelCount)
        block = .success(samples)
      } catch { block = .failure(error) }
    }
  }

  /// One channel, measured by one thread at a time.
  private final class Channel: Sendable {
    let measurement: Mutex<ChannelMeasurement>
    init(rate: Double) { measurement = Mutex(ChannelMeasurement(rate: rate)) }
  }

  init(_ reader: consuming sending SoundFileReader) throws(AnalysisError) {
    let (count, rate) = (reader.channelCount, reader.rate)
    channelCount = count
    loudness = Mutex(try LoudnessMeasurement(channelCount: count, rate: rate))
    channels = (0..<count).map { _ in Channel(rate: rate) }
    reading = Mutex(Reading(reader: reader))
  }

  /// Reads the next block, which is empty at the end, while the one before is measured.
  func next(measuring block: [Float]? = nil) throws(SoundFileError) -> [Float] {
    // The longest pieces first, so that none is left alone at the end.
    WorkerPool.run(block == nil ? 2 : channelCount + 2) { [self] piece in
      switch piece {
      case 0: if let block { loudness.withLock { $0.add(block.span) } }
      case 1: reading.withLock { $0.next() }
      default:
        let channel = piece - 2
        if let block {
          channels[channel].measurement.withLock { $0.add(block.span, channel: channel, channelCount: channelCount) }
        }
      }
    } meanwhile: { _ in
    }
    return try reading.withLock { $0.block }.get()
  }

  func finish() -> (whole: Levels, channels: [Levels], spectra: [Spectrum]) {
    let figures = channels.map { channel in channel.measurement.withLock { $0.finish() } }
    let levels = figures.map(\.0)
    let whole = Levels(joining: levels, integratedLoudness: loudness.withLock { $0.finish() })
    return (whole, levels, figures.compactMap(\.1))
  }
}
