public import SignalAnalysis
internal import SignalPlots
internal import SoundFile
internal import SystemSupport

/// A sound embedded in a page, as the bytes of a sound file.
///
/// The sounds of reports and galleries are FLAC with dithered 16-bit samples, as in `render`.
/// Such a sound longer than a minute is decimated by 4 if 99 % of its power is below 860 Hz, or by
/// 2 if 99 % is below 1,720 Hz. It then has 12-bit samples.
struct EmbeddedSound: Sendable {
  /// The maximum total size of all sounds in a page, encoded as text, in bytes.
  ///
  /// Browsers load longer pages slowly.
  static let maximumTotalByteCount = 100_000_000
  /// The sample rates of sounds in pages, in hertz. Every browser plays them.
  static let supportedSampleRatesHertz: [Double] = [8_000, 16_000, 24_000, 32_000, 48_000]

  let fileBytes: [UInt8]
  /// The sample rate of the played sound, in hertz.
  let sampleRateHertz: Double
  /// The number of played frames for each frame of the file.
  ///
  /// The file declares the rate of the played sound, because no browser decodes rates below 3 kHz.
  let decimationFactor: Int

  /// The maximum duration of a sound without decimation, in seconds.
  private static let maximumUndecimatedSeconds = 60.0
  /// The maximum fraction of the power that decimation may remove from a long sound.
  private static let maximumLostPowerFraction = 0.01
  /// The number of quantization steps from silence to full scale in a long sound.
  private static let longSoundQuantizationStepCount = Float(2_048)

  /// Returns the decimated and quantized samples of a long sound, with the decimation factor.
  ///
  /// Returns nil if the sound is short or would lose too much power.
  private static func decimatedSamples(of signal: Signal) -> (samples: [Float], factor: Int)? {
    guard signal.durationSeconds > maximumUndecimatedSeconds,
      signal.rate == supportedSampleRatesHertz[0],
      signal.channels.count == 1
    else {
      return nil
    }
    let spectrum = Spectrum(of: signal, window: 0.1)
    for factor in [4, 2] {
      let bandSignal = TactileBandSignal(
        of: signal.mono, rate: signal.rate, minimumRate: signal.rate / Double(factor))
      let cutoff = TactileBandSignal.cutoffToOutputRateRatio * bandSignal.decimatedRate
      guard
        spectrum.power(in: cutoff...signal.rate) <= maximumLostPowerFraction * spectrum.totalPower
      else {
        continue
      }
      // In a 24-bit file, the samples are multiples of 4,096. FLAC does not store the trailing
      // zeros.
      let step: Double = 4_096 / 8_388_607
      let samples = bandSignal.samples.map { (sample: Float) -> Float in
        let stepCount: Float = (sample * longSoundQuantizationStepCount).rounded()
        return Float(Double(stepCount) * step)
      }
      return (samples, factor)
    }
    return nil
  }

  /// The maximum number of channels, which a browser plays on the left and on the right.
  ///
  /// If a signal has more channels, the page contains their mean and states this.
  private static let maximumChannelCount = 2

  /// Embeds the bytes of a sound file unchanged.
  ///
  /// - Parameters:
  ///   - fileBytes: The bytes of a file in a format that browsers decode, such as WAV.
  ///   - rate: The sample rate of the file, in hertz.
  init(fileBytes: [UInt8], rate: Double) {
    self.fileBytes = fileBytes
    self.sampleRateHertz = rate
    decimationFactor = 1
  }

  /// Encodes a signal as a sound file.
  ///
  /// A signal with more than `maximumChannelCount` channels is mixed down to the mean.
  ///
  /// - Throws: `notDrawn` if the file cannot be encoded, for example at a rate that FLAC does not
  ///   support.
  init(_ signal: Signal) throws(ReviewPageError) {
    let decimatedSignal = Self.decimatedSamples(of: signal)
    decimationFactor = decimatedSignal?.factor ?? 1
    let mixedSignal =
      signal.channels.count > Self.maximumChannelCount
      ? Signal(channels: [signal.mono], rate: signal.rate) : signal
    // Browsers do not decode files without frames.
    let fileSamples =
      decimatedSignal?.samples ?? (mixedSignal.frameCount > 0 ? mixedSignal.interleaved : [0])
    sampleRateHertz = mixedSignal.rate
    do throws(SoundFileError) {
      fileBytes = try SoundFileWriter.bytes(
        of: fileSamples.span,
        format: SoundFileFormat(
          container: .flac, sampleFormat: decimatedSignal == nil ? .s16 : .s24),
        rate: Int(mixedSignal.rate.rounded()),
        channelCount: mixedSignal.frameCount > 0 ? max(1, mixedSignal.channels.count) : 1)
    } catch {
      throw ReviewPageError(.notDrawn, error.description)
    }
  }

  /// Throws `tooLarge` if the sounds of a page are too large for a browser.
  static func checkTotalSize(
    of sounds: [EmbeddedSound], takeCount: Int, noun: String = "takes",
    maximumByteCount: Int = maximumTotalByteCount
  ) throws(ReviewPageError) {
    let totalByteCount = sounds.reduce(0) { $0 + $1.encodedByteCount }
    guard totalByteCount > maximumByteCount else { return }
    throw ReviewPageError(
      .tooLarge,
      """
      the sound of \(takeCount) \(noun) needs a page of \(totalByteCount / 1_000) kB; the limit is \
      \(maximumByteCount / 1_000) kB; use fewer or shorter \(noun)
      """
    )
  }

  /// The length of the sound's Base64 text, in bytes.
  var encodedByteCount: Int { Base64.encodedLength(ofByteCount: fileBytes.count) }

  /// Returns the HTML element that contains the sound.
  func elementMarkup(id: String) -> [UInt8] {
    let rateText = NumberFormatting.roundedText(sampleRateHertz, places: 0)
    let factorAttribute = decimationFactor > 1 ? " data-factor=\"\(decimationFactor)\"" : ""
    let startTag =
      "<script type=\"text/plain\" id=\"\(id)\" data-rate=\"\(rateText)\"\(factorAttribute)>"
    return Array(startTag.utf8) + Base64.encoded(fileBytes) + Array("</script>\n".utf8)
  }
}

/// The sounds of a take that a page plays.
public struct PageSounds: Sendable {
  /// The signal for the actuator.
  public var actuatorSignal: Signal
  /// The signal for small speakers, or nil without such a signal.
  public var speakerSignal: Signal?

  /// The maximum fraction of the power lost at a lower sample rate: −40 dB.
  private static let maximumLostPowerFraction = 1e-4
  /// The upper edge of the resampling filter's passband, as a fraction of the sample rate.
  private static let passbandEdgeToSampleRateRatio = 0.45

  /// Creates the sounds of a take from a signal for the actuator and one for small speakers.
  public init(actuatorSignal: Signal, speakerSignal: Signal? = nil) {
    self.actuatorSignal = actuatorSignal
    self.speakerSignal = speakerSignal
  }

  /// Returns the minimum sample rate that preserves a signal's power, in hertz.
  ///
  /// At this rate, the signal loses at most −40 dB of its power.
  ///
  /// The rate of patterns without sound files is 8 kHz.
  ///
  /// - Complexity: Linear in the length of the signal.
  public static func minimumSampleRateHertz(for signal: Signal) -> Double {
    let spectrum = Spectrum(of: signal, window: 0.1)
    let totalPower = spectrum.totalPower
    let nyquistHertz = signal.rate / 2
    for rate in EmbeddedSound.supportedSampleRatesHertz where rate < signal.rate {
      let passbandEdge = passbandEdgeToSampleRateRatio * rate
      let lostPower = spectrum.power(in: passbandEdge...max(passbandEdge, nyquistHertz))
      if lostPower <= totalPower * maximumLostPowerFraction {
        return rate
      }
    }
    return EmbeddedSound.supportedSampleRatesHertz.last { $0 <= signal.rate } ?? signal.rate
  }
}
