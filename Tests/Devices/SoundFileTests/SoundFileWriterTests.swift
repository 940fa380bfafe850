import Glibc
import TestSupport
import Testing

@testable import SoundFile

@Suite struct SoundFileWriterTests {
  typealias Container = SoundFileFormat.Container

  static let losslessFormats: [(Container, SampleFormat)] = Container.allCases.filter { $0 != .ogg }
    .flatMap { container in
      SampleFormat.allCases.map { (container, $0) }
    }.filter {
      SoundFileFormat(container: $0, sampleFormat: $1).unsupportedReason(
        rate: 48_000, channelCount: 2)
        == nil
    }

  /// Dither changes a 16-bit sample by less than a step, and rounding by up to half a step. Other
  /// formats are only rounded.
  @Test(arguments: losslessFormats) func writtenSamplesReadBack(
    container: Container, format: SampleFormat
  ) throws {
    let left = sine(hertz: 100, rate: 48_000, count: 4_800)
    let samples = left.flatMap { [$0, -$0 / 2] }
    let sound = try UnnamedFile.holding(samples, container, format, channelCount: 2).sound()
    #expect(sound.channelCount == 2)
    #expect(sound.rate == 48_000)
    #expect(sound.frameCount == 4_800)
    // Full scale is written as the largest integer, and read as one step below 1.
    let (scale, tolerance): (Float, Float) =
      switch format {
      case .s16: (32_767 / 32_768, 1.51 / 32_768)
      case .s24: (8_388_607 / 8_388_608, 0.51 / 8_388_608)
      case .s32, .float: (1, 0)
      }
    let maximumError = zip(samples, sound.interleaved).map { abs($0 * scale - $1) }.max() ?? 1
    #expect(maximumError <= tolerance + 6e-8)
  }

  @Test func oggKeepsLengthFrequencyAndLevel() throws {
    let samples = sine(hertz: 100, rate: 48_000, count: 48_000)
    let sound = try UnnamedFile.holding(samples, .ogg, .s16).sound()
    #expect(sound.frameCount == 48_000)
    #expect(abs(frequency(of: sound.interleaved, rate: 48_000) - 100) < 0.1)
    #expect(abs((sound.interleaved.max() ?? 0) - 0.9) < 0.05)
  }

  @Test(arguments: losslessFormats) func equalSoundsHaveEqualFiles(
    container: Container, format: SampleFormat
  ) throws {
    let samples = sine(hertz: 80, rate: 48_000, count: 3_000)
    let tags = SoundFileTags(title: "t", software: "s", comment: "c")
    let first = try UnnamedFile.holding(samples, container, format, tags: tags).bytes
    let second = try UnnamedFile.holding(samples, container, format, tags: tags).bytes
    #expect(first == second)
  }

  /// libsndfile stores the current time in the `PEAK` chunk. RF64 files keep that chunk, without
  /// the time.
  @Test(arguments: losslessFormats) func filesContainNoTimestamp(
    container: Container, format: SampleFormat
  ) throws {
    let tags = SoundFileTags(title: "odd", software: "s", comment: "c")
    let bytes = try UnnamedFile.holding([0, 0.5], container, format, tags: tags).bytes
    #expect(!bytes.containsText("peak"))
    guard let chunk = bytes.firstRange(of: "PEAK".utf8)?.lowerBound else { return }
    #expect(container == .rf64 && format == .float)
    #expect(bytes[(chunk + 12)..<(chunk + 16)] == [0, 0, 0, 0])
  }

  /// Every page of an Ogg stream has a random serial number and a checksum that depends on it; all
  /// other bytes are equal.
  @Test func oggFilesDifferOnlyInTheirSerialNumber() throws {
    func pages() throws -> [UInt8] {
      var bytes = try UnnamedFile.holding(sine(hertz: 80, rate: 48_000, count: 3_000), .ogg, .s16)
        .bytes
      for start in bytes.indices where bytes[start...].starts(with: "OggS".utf8) {
        for offset in [14, 15, 16, 17, 22, 23, 24, 25] {
          bytes[start + offset] = 0
        }
      }
      return bytes
    }
    #expect(try pages() == pages())
  }

  @Test(arguments: [Container.wav, .rf64, .aiff, .flac, .ogg, .caf]) func tagsAreWrittenToTheFile(
    container: Container
  ) throws {
    let tags = SoundFileTags(title: "Ünter Grund", software: "Temblor 9", comment: "profile x")
    let bytes = try UnnamedFile.holding([0, 0.5], container, .s16, tags: tags).bytes
    #expect(
      bytes.containsText("Ünter Grund") && bytes.containsText("Temblor 9")
        && bytes.containsText("profile x"))
  }

  @Test func emptySoundReadsBack() throws {
    let sound = try UnnamedFile.holding([], .wav, .s16).sound()
    #expect(sound == Sound(interleaved: [], channelCount: 1, rate: 48_000))
  }

  @Test func unsupportedFormatsAreRefusedBeforeWriting() throws {
    let file = try UnnamedFile()
    let error = #expect(throws: SoundFileError.self) {
      _ = try SoundFileWriter(
        descriptor: file.descriptor, path: "a.flac",
        format: SoundFileFormat(container: .flac, sampleFormat: .float),
        rate: 48_000, channelCount: 1, frameCount: 1)
    }
    #expect(
      error
        == SoundFileError(
          kind: .unsupportedFormat, path: "a.flac",
          description: "flac does not support float samples; use s16 or s24"))
    #expect(file.bytes == [])
  }

  @Test(arguments: SoundFileFormat.Container.allCases) func fullDiskIsReported(
    container: Container
  ) throws {
    let descriptor = unsafe open("/dev/full", O_RDWR)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let error = #expect(throws: SoundFileError.self) {
      var writer = try SoundFileWriter(
        descriptor: descriptor, path: "a",
        format: SoundFileFormat(container: container, sampleFormat: .s16),
        rate: 48_000,
        channelCount: 1, frameCount: 100_000)
      try writer.write(sine(hertz: 80, rate: 48_000, count: 100_000).span)
      try writer.close()
    }
    #expect(error?.kind == .diskFull)
    #expect(error?.description == "the disk is full; free some space or choose another folder")
  }

  @Test func aDeviceIsRefused() throws {
    let error = #expect(throws: SoundFileError.self) {
      _ = try SoundFileWriter(
        path: "/dev/null", format: SoundFileFormat(container: .wav, sampleFormat: .s16),
        rate: 48_000, channelCount: 1)
    }
    #expect(error?.kind == .notAFile)
    #expect(error?.description == "is a device or a pipe; specify a file")
  }
}

extension [UInt8] {
  /// Returns true if the bytes contain a text.
  func containsText(_ text: String) -> Bool { firstRange(of: text.utf8) != nil }
}
