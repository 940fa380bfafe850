internal import Glibc
public import SignalAnalysis
public import SoundFile
internal import Synchronization
internal import SystemSupport

/// Measures the levels, spectra, and onsets of a sound file of any length, on all cores and with a
/// few tens of megabytes of memory.
public struct SoundMeasurement {
  /// The maximum duration of a sound that is searched for onsets, in seconds.
  static let maximumOnsetSearchSeconds = 60.0

  /// The container format of the file, as named by libsndfile.
  public let container: String
  /// The encoding of the file's samples, as named by libsndfile.
  public let encoding: String
  /// The sample rate of the file, in hertz.
  public let sampleRateHertz: Double
  /// The number of frames in the file.
  public let frameCount: Int
  /// The difference between the length that the header states and the actual length, or nil for a
  /// complete file.
  public let truncation: SoundTruncation?
  /// The levels of all channels together.
  public let overallLevels: Levels
  /// The levels of each channel.
  public let channelLevels: [Levels]
  /// The spectrum of each channel.
  public let channelSpectra: [Spectrum]
  /// The onsets in the mean of all channels, or nil if the sound is too long to search.
  public let onsets: [Onset]?

  /// Measures a sound file.
  ///
  /// - Parameters:
  ///   - path: The path of the file, or `-` for standard input.
  ///   - progress: Receives the measured fraction from time to time.
  /// - Throws: A `FileError` or `SoundFileError`.
  public init(_ path: String, progress: (Double) -> Void) throws {
    let fileDescriptor = try FileSystem.openForReading(path)
    defer { close(fileDescriptor) }
    truncation = SoundTruncation(readingDescriptor: fileDescriptor)
    let displayName = FileSystem.displayName(of: path)
    let fileReader = try SoundFileError.namingFileKind(of: path) { () throws(SoundFileError) in
      try SoundFileReader(readingDescriptor: fileDescriptor, path: displayName)
    }
    container = fileReader.container
    encoding = fileReader.encoding
    sampleRateHertz = fileReader.rate
    let channelCount = fileReader.channelCount
    let expectedFrameCount = max(1, Double(fileReader.frameCount))
    let measurementWorkers: SoundMeasurementWorkers
    do throws(AnalysisError) {
      measurementWorkers = try SoundMeasurementWorkers(fileReader)
    } catch {
      throw FileError(displayName, error.description)
    }
    var measuredFrameCount = 0
    var onsetSamples: [Float]? = []
    var sampleBlock = try measurementWorkers.readNextBlock()
    while !sampleBlock.isEmpty {
      measuredFrameCount += sampleBlock.count / channelCount
      if measuredFrameCount > Int(Self.maximumOnsetSearchSeconds * sampleRateHertz) {
        onsetSamples = nil
      }
      onsetSamples?.append(
        contentsOf: Signal(
          interleaved: sampleBlock, channelCount: channelCount, rate: sampleRateHertz
        )
        .mono)
      sampleBlock = try measurementWorkers.readNextBlock(measuring: sampleBlock)
      progress(min(1, Double(measuredFrameCount) / expectedFrameCount))
    }
    guard measuredFrameCount > 0 else {
      throw SoundFileError(kind: .notSound, path: displayName, description: "contains no audio")
    }
    self.frameCount = measuredFrameCount
    (overallLevels, channelLevels, channelSpectra) = measurementWorkers.finishMeasurement()
    onsets = onsetSamples.map { [sampleRateHertz] in
      Array(Onsets(in: Signal($0, rate: sampleRateHertz)))
    }
  }
}

/// Distributes the measurement of a sound to several threads. While a block is measured, the next
/// block is read.
private final class SoundMeasurementWorkers: Sendable {
  /// The number of samples in a block. A block has 8 MiB and needs about 20 ms of work.
  private static let blockSampleCount = 1 << 21

  private let channelCount: Int
  private let blockReader: Mutex<BlockReader>
  private let loudnessMeasurement: Mutex<LoudnessMeasurement>
  private let channelMeasurements: [Channel]

  /// A reader of the sound file that stores the most recent block. An empty block marks the end of
  /// the file.
  private struct BlockReader: ~Copyable {
    var reader: SoundFileReader
    var latestBlock = Result<[Float], SoundFileError>.success([])

    /// Reads the next block of frames.
    mutating func readNextBlock() {
      let size = max(1, blockSampleCount / reader.channelCount) * reader.channelCount
      var samples = [Float](repeating: 0, count: size)
      var span = samples.mutableSpan
      do throws(SoundFileError) {
        let count = try reader.read(into: &span)
        samples.removeLast(size - count * reader.channelCount)
        latestBlock = .success(samples)
      } catch {
        latestBlock = .failure(error)
      }
    }
  }

  /// The measurement of a single channel, which one thread at a time may use.
  private final class Channel: Sendable {
    let measurement: Mutex<ChannelMeasurement>
    init(rate: Double) { measurement = Mutex(ChannelMeasurement(rate: rate)) }
  }

  init(_ reader: consuming sending SoundFileReader) throws(AnalysisError) {
    let readerChannelCount = reader.channelCount
    let readerSampleRate = reader.rate
    channelCount = readerChannelCount
    loudnessMeasurement = Mutex(
      try LoudnessMeasurement(channelCount: readerChannelCount, sampleRate: readerSampleRate))
    channelMeasurements = (0..<readerChannelCount).map { _ in Channel(rate: readerSampleRate) }
    blockReader = Mutex(BlockReader(reader: reader))
  }

  /// Reads the next block while the previous block is measured. An empty block marks the end of the
  /// file.
  func readNextBlock(measuring block: [Float]? = nil) throws(SoundFileError) -> [Float] {
    // The longest jobs start first, so that none runs alone at the end.
    WorkerPool.run(jobCount: block == nil ? 2 : channelCount + 2) { [self] job in
      switch job {
      case 0:
        if let block {
          loudnessMeasurement.withLock { $0.add(block.span) }
        }
      case 1:
        blockReader.withLock { $0.readNextBlock() }
      default:
        let channel = job - 2
        if let block {
          channelMeasurements[channel].measurement.withLock {
            $0.add(block.span, channel: channel, channelCount: channelCount)
          }
        }
      }
    } meanwhile: { _ in
    }
    return try blockReader.withLock { $0.latestBlock }.get()
  }

  /// Completes the measurement after the last block, and returns the results.
  func finishMeasurement() -> (overall: Levels, channels: [Levels], spectra: [Spectrum]) {
    let channelResults = channelMeasurements.map { channel in
      channel.measurement.withLock { $0.measuredLevelsAndSpectrum() }
    }
    let channelLevels = channelResults.map(\.0)
    let overallLevels = Levels(
      joining: channelLevels,
      integratedLoudnessLUFS: loudnessMeasurement.withLock { $0.integratedLoudnessLUFS() })
    return (overallLevels, channelLevels, channelResults.compactMap(\.1))
  }
}
