import CSndFile
import Testing

@testable import SoundFile

@Suite struct SoundFileFormatTests {
  @Test(arguments: [
    ("a.wav", SoundFileFormat.Container.wav), ("a.b.WAVE", .wav), ("a.flac", .flac),
    ("a.aif", .aiff),
    ("a.AIFF", .aiff), ("a.w64", .w64), ("a.rf64", .rf64), ("a.caf", .caf), ("a.ogg", .ogg),
    ("a.oga", .ogg),
  ]) func fileExtensionSelectsTheContainer(name: String, container: SoundFileFormat.Container) {
    #expect(SoundFileFormat.container(ofName: name) == container)
  }

  @Test(arguments: ["a", "a.", "a.mp3", ".wav", "wav", "", "a.wav.txt"])
  func otherFileExtensionsSelectNoContainer(
    name: String
  ) {
    #expect(SoundFileFormat.container(ofName: name) == nil)
  }

  @Test(arguments: [
    (
      SoundFileFormat.Container.flac, SampleFormat.float, 48_000, 1,
      "flac does not support float samples; use s16 or s24"
    ),
    (.flac, .s32, 48_000, 64, "flac does not support s32 samples; use s16 or s24"),
    (.flac, .s16, 48_000, 9, "flac supports at most 8 channels, not 9"),
  ]) func unsupportedFormatsHaveAReason(
    container: SoundFileFormat.Container, sampleFormat: SampleFormat, rate: Int, channelCount: Int,
    unsupportedReason: String
  ) {
    let format = SoundFileFormat(container: container, sampleFormat: sampleFormat)
    #expect(format.unsupportedReason(rate: rate, channelCount: channelCount) == unsupportedReason)
  }

  @Test(arguments: SoundFileFormat.Container.allCases) func otherContainersSupportAllFormats(
    container: SoundFileFormat.Container
  ) {
    for sampleFormat in SampleFormat.allCases where container != .flac {
      for rate in [8_000, 44_100, 192_000] {
        let format = SoundFileFormat(container: container, sampleFormat: sampleFormat)
        #expect(format.unsupportedReason(rate: rate, channelCount: 64) == nil)
      }
    }
  }

  /// A WAV file has at most 2³² − 1 bytes, of which a mebibyte is for headers and tags.
  @Test func wavBeyondFourGibibytesIsRF64() {
    let wavFormat = SoundFileFormat(container: .wav, sampleFormat: .s16)
    let maximumWAVFrameCount: Int64 = (0xFFFF_FFFF - 0x10_0000) / 4
    let typeMask = Int32(SF_FORMAT_TYPEMASK)
    #expect(
      wavFormat.libsndfileFormat(frameCount: maximumWAVFrameCount, channelCount: 2) & typeMask
        == Int32(SF_FORMAT_WAV))
    #expect(
      wavFormat.libsndfileFormat(frameCount: maximumWAVFrameCount + 1, channelCount: 2) & typeMask
        == Int32(SF_FORMAT_RF64))
    #expect(
      wavFormat.libsndfileFormat(frameCount: maximumWAVFrameCount + 1, channelCount: 1) & typeMask
        == Int32(SF_FORMAT_WAV))
    let cafFormat = SoundFileFormat(container: .caf, sampleFormat: .float)
    #expect(
      cafFormat.libsndfileFormat(frameCount: 1 << 40, channelCount: 2) & typeMask
        == Int32(SF_FORMAT_CAF))
  }
}
