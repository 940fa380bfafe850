import Glibc
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

  /// Dither moves a 16-bit sample by less than a step and rounding by half a step; others only
  /// round.
  @Test(arguments: losslessFormats) func whatIsWrittenIsReadAgain(
    container: Container, format: SampleFormat
  ) throws {
    let left = sine(hertz: 100, rate: 48_000, count: 4_800)
    let samples = left.flatMap { [$0, -$0 / 2] }
    let sound = try UnnamedFile.holding(samples, container, format, channelCount: 2).sound()
    #expect(sound.channelCount == 2)
    #expect(sound.rate == 48_000)
    #expect(sound.frameCount == 4_800)
    // Full scale is written as the greatest number and read as one step below 1.
    let (scale, error): (Float, Float) =
      switch format {
      case .s16: (32_767 / 32_768, 1.51 / 32_768)
      case .s24: (8_388_607 / 8_388_608, 0.51 / 8_388_608)
      case .s32, .float: (1, 0)
      }
    let worst = zip(samples, sound.interleaved).map { abs($0 * scale - $1) }.max() ?? 1
    #expect(worst <= error + 6e-8)
  }

  @Test func oggKeepsLengthFrequencyAndLevel() throws {
    let samples = sine(hertz: 100, rate: 48_000, count: 48_000)
    let sound = try UnnamedFile.holding(samples, .ogg, .s16).sound()
    #expect(sound.frameCount == 48_000)
    #expect(abs(frequency(of: sound.interleaved, rate: 48_000) - 100) < 0.1)
    #expect(abs((sound.interleaved.max() ?? 0) - 0.9) < 0.05)
  }

  @Test(arguments: losslessFormats) func equalSoundsAreEqualFiles(
    container: Container, format: SampleFormat
  ) throws {
    let samples = sine(hertz: 80, rate: 48_000, count: 3_000)
    let tags = SoundFileTags(title: "t", software: "s", comment: "c")
    let first = try UnnamedFile.holding(samples, container, format, tags: tags).bytes
    let second = try UnnamedFile.holding(samples, container, format, tags: tags).bytes
    #expect(first == second)
  }

  /// libsndfile puts the time of day into a chunk of peaks; RF64 keeps the chunk, without the time.
  @Test(arguments: losslessFormats) func nothingTellsTheTime(
    container: Container, format: SampleFormat
  ) throws {
    let tags = SoundFileTags(title: "odd", software: "s", comment: "c")
    let bytes = try UnnamedFile.holding([0, 0.5], container, format, tags: tags).bytes
    #expect(!bytes.holds("peak"))
    guard let chunk = bytes.firstRange(of: "PEAK".utf8)?.lowerBound else { return }
    #expect(container == .rf64 && format == .float)
    #expect(bytes[(chunk + 12)..<(chunk + 16)] == [0, 0, 0, 0])
  }

  /// An Ogg stream has a random serial number in each page, and a checksum over it; all else is
  /// equal.
  @Test func oggsDifferInNothingButTheirSerialNumber() throws {
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

  @Test(arguments: [Container.wav, .rf64, .aiff, .flac, .ogg, .caf]) func tagsAreInTheFile(
    container: Container
  ) throws {
    let tags = SoundFileTags(title: "Ünter Grund", software: "Temblor 9", comment: "profile x")
    let bytes = try UnnamedFile.holding([0, 0.5], container, .s16, tags: tags).bytes
    #expect(bytes.holds("Ünter Grund") && bytes.holds("Temblor 9") && bytes.holds("profile x"))
  }

  @Test func emptySoundIsAFile() throws {
    let sound = try UnnamedFile.holding([], .wav, .s16).sound()
    #expect(sound == Sound(interleaved: [], channelCount: 1, rate: 48_000))
  }

  @Test func whatCannotBeIsRefusedBeforeAnythingIsWritten() {
    let file = UnnamedFile()
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

  @Test(arguments: SoundFileFormat.Container.allCases) func saysThatTheDiskIsFull(
    container: Container
  ) throws {
    let full = unsafe open("/dev/full", O_RDWR)
    try #require(full >= 0)
    defer { close(full) }
    let error = #expect(throws: SoundFileError.self) {
      var writer = try SoundFileWriter(
        descriptor: full, path: "a",
        format: SoundFileFormat(container: container, sampleFormat: .s16),
        rate: 48_000,
        channelCount: 1, frameCount: 100_000)
      try writer.write(sine(hertz: 80, rate: 48_000, count: 100_000).span)
      try writer.close()
    }
    #expect(error?.kind == .diskFull)
    #expect(error?.description == "the disk is full; free some space or choose another folder")
  }
}

extension [UInt8] {
  /// Whether a text is somewhere in the bytes.
  func holds(_ text: String) -> Bool { firstRange(of: text.utf8) != nil }
}
