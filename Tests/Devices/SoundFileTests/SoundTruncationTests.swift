import Glibc
import TestSupport
import Testing

@testable import SoundFile

@Suite struct SoundTruncationTests {
  private static func littleEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  private static func bigEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
    littleEndian(value, count).reversed()
  }

  /// Returns a WAV file with 100 frames of 16 bits, whose header specifies a number of bytes.
  private static func wav(
    announcing byteCount: UInt64, formID: String = "RIFF", rate: UInt64 = 8_000,
    precedingChunks: [UInt8] = []
  )
    -> [UInt8]
  {
    let format =
      littleEndian(1, 2) + littleEndian(1, 2) + littleEndian(rate, 4) + littleEndian(2 * rate, 4)
      + littleEndian(2, 2)
    return Array(formID.utf8) + littleEndian(236, 4) + Array("WAVE".utf8) + precedingChunks
      + Array("fmt ".utf8)
      + littleEndian(16, 4) + format
      + littleEndian(16, 2) + Array("data".utf8) + littleEndian(byteCount, 4)
      + [UInt8](repeating: 32, count: 200)
  }

  /// Returns the chunk of an RF64 file that contains the length of the samples.
  private static func ds64(_ byteCount: UInt64) -> [UInt8] {
    Array("ds64".utf8) + littleEndian(28, 4) + littleEndian(byteCount + 72, 8)
      + littleEndian(byteCount, 8)
      + littleEndian(byteCount / 2, 8)
      + littleEndian(0, 4)
  }

  private static func aiff(announcing byteCount: UInt64) -> [UInt8] {
    // 8000 Hz as an 80-bit floating-point number.
    let rate: [UInt8] = [0x40, 0x0B, 0xFA, 0, 0, 0, 0, 0, 0, 0]
    return Array("FORM".utf8) + bigEndian(254, 4) + Array("AIFFCOMM".utf8) + bigEndian(18, 4)
      + bigEndian(1, 2)
      + bigEndian(100, 4) + bigEndian(16, 2)
      + rate + Array("SSND".utf8) + bigEndian(byteCount, 4) + bigEndian(0, 8)
      + [UInt8](repeating: 32, count: 200)
  }

  @Test(
    arguments: [
      (wav(announcing: 9_600), 9_600), (wav(announcing: 0xFFFF_FFF0), 0xFFFF_FFF0),
      (
        wav(
          announcing: 9_600,
          precedingChunks: Array("LIST".utf8) + littleEndian(3, 4) + [1, 2, 3, 0]),
        9_600
      ),
      (wav(announcing: 0xFFFF_FFFF, formID: "RF64", precedingChunks: ds64(1 << 60)), 1 << 60),
      (wav(announcing: 201), 201),
    ] as [([UInt8], UInt64)]) func excessiveLengthInAHeaderIsReported(
      bytes: [UInt8], announced: UInt64
    ) throws
  {
    let sound = try UnnamedFile(bytes).sound()
    #expect(sound.interleaved == [Float](repeating: 8_224 / 32_768, count: 100))
    let truncation = try #require(sound.truncation)
    #expect(truncation.expectedByteCount == announced)
    #expect(truncation.foundByteCount == 200)
    #expect(
      truncation.messageText
        == "has only 200 of the \(announced) bytes of samples that its header specifies")
  }

  private static func truncation(_ bytes: [UInt8]) throws -> SoundTruncation? {
    let file = try UnnamedFile(bytes)
    return withExtendedLifetime(file) { SoundTruncation(readingDescriptor: file.descriptor) }
  }

  @Test func excessiveLengthInAnAIFFHeaderIsReported() throws {
    let truncation = try Self.truncation(Self.aiff(announcing: 9_608))
    #expect(truncation?.expectedByteCount == 9_608)
    #expect(truncation?.foundByteCount == 208)
    #expect(try Self.truncation(Self.aiff(announcing: 208)) == nil)
  }

  /// The arguments are complete files, files with the placeholder lengths of programs that write to
  /// a pipe, and data of no known format.
  @Test(arguments: [
    wav(announcing: 200), wav(announcing: 100), wav(announcing: 0xFFFF_FFFF),
    wav(announcing: 0x7FFF_F000),
    wav(announcing: 0xFFFF_FFFF, formID: "RF64", precedingChunks: ds64(200)),
    Array(wav(announcing: 9_600).prefix(40)),
    Array("RIFF".utf8), [],
  ]) func otherFilesAreNotTruncated(bytes: [UInt8]) throws {
    #expect(try Self.truncation(bytes) == nil)
  }

  @Test func rateOfZeroIsAnInvalidHeader() throws {
    let file = try UnnamedFile(Self.wav(announcing: 200, rate: 0))
    let error = #expect(throws: SoundFileError.self) { try file.sound() }
    #expect(error?.kind == .notSound)
    #expect(
      error?.description == "has an invalid header: its sample rate or its number of channels is 0")
  }

  /// libsndfile closes the descriptor of a file that it cannot open. The system may then reuse its
  /// number.
  @Test func descriptorOfAnUnreadableFileStaysOpen() throws {
    let file = try UnnamedFile(Self.wav(announcing: 200, rate: 0))
    #expect(throws: SoundFileError.self) { try file.sound() }
    #expect(fcntl(file.descriptor, F_GETFD) >= 0)
  }

  /// libsndfile stores the reason of a failed opening in one variable for the whole process.
  @Test func errorsAreCorrectWhileOtherFilesAreOpened() async {
    await withTaskGroup { group in
      for _ in 0..<1_000 {
        group.addTask {
          let error = #expect(throws: SoundFileError.self) {
            try UnnamedFile(Self.wav(announcing: 200, rate: 0)).sound()
          }
          #expect(
            error?.description
              == "has an invalid header: its sample rate or its number of channels is 0")
        }
        group.addTask {
          #expect(throws: Never.self) { try UnnamedFile(Self.wav(announcing: 200)).sound() }
        }
      }
    }
  }
}
