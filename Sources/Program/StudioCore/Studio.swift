internal import CMath
internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import PatternRules
internal import Reading
internal import TransducerProfiles

/// The state of a studio, with documents, sound files, profiles, and reports about them.
///
/// - Note: Not thread-safe. A page with several threads creates one instance of the module for
///   each.
final class Studio {
  /// The open documents. Documents 0 and 1 are A and B, and document 2 is for copies.
  var documents = [Document(), Document(), Document()]
  /// The sound files, by their paths in patterns.
  var soundsByPath: [String: DecodedSound] = [:]
  /// The shipped profiles, followed by the user's profiles.
  var profiles = ProfileCatalog.names.compactMap { ProfileCatalog.profile(named: $0) }
  /// The losses of the last conversion.
  var lastConversionLosses: [LocatedLoss] = []

  /// The maximum number of documents.
  static let maximumDocumentCount = 65_536

  /// Creates empty documents up to the given index, if the index is within the maximum.
  func makeDocuments(upToIndex index: Int) {
    while documents.count <= index, index < Self.maximumDocumentCount {
      documents.append(Document())
    }
  }

  /// Returns the profile with the given index, or the first profile for an invalid index.
  func profile(_ index: Int) -> TransducerProfile {
    profiles.indices.contains(index) ? profiles[index] : profiles.first ?? .phone
  }

  /// Returns the frequency in hertz at which a profile plays the given sharpness.
  func playedHertz(profile index: Int, sharpness: Double) -> Double {
    profile(index).limitedToUsableBand(rate: Self.defaultRateHertz).frequency.hertz(
      atSharpness: min(max(sharpness, 0), 1))
  }

  /// The sample rate that reports assume and that the first rendering uses, in hertz.
  static let defaultRateHertz = 48_000.0

  /// Compiles a composition for a profile. Events whose sound file the host has not added are
  /// omitted.
  func compilePlan(of composition: HapticComposition, profile index: Int, rate: Double)
    throws(RenderError)
    -> RenderPlan
  {
    var composition = composition.linearized()
    var samplesByPath: [String: AudioBuffer] = [:]
    var tooLongPath: String?
    for layer in composition.layers.indices {
      composition.layers[layer].pattern.events.removeAll { event in
        guard let path = event.waveform?.path, event.kind.playsFile else { return false }
        guard let sound = soundsByPath[path] else { return true }
        guard sound.frameCount(playedAtHertz: rate) <= Double(Self.maximumRenderedSampleCount)
        else {
          tooLongPath = path
          return true
        }
        if samplesByPath[path] == nil {
          samplesByPath[path] = AudioBuffer(
            interleaved: sound.interleaved, channelCount: sound.channelCount,
            rate: sound.sampleRateHertz,
            playedAt: rate)
        }
        return false
      }
    }
    if let tooLongPath {
      throw RenderError(
        kind: .patternTooLong,
        description:
          """
          the sound file \(tooLongPath.quoted()) has more than \
          \(Self.maximumRenderedSampleCount) frames
          """
      )
    }
    return try RenderPlan(
      compiling: composition, profile: profile(index), rate: rate, samples: samplesByPath)
  }

  /// The maximum number of samples in a rendering. A sound, converted to the rendering's sample
  /// rate, can have at most the same number of frames. At 48 kHz, this is 93 minutes.
  static let maximumRenderedSampleCount = 1 << 28

  private static let emptySlotRule = Rule.error(
    "slot-empty", "syntax", "A slot must have a pattern before it is rendered.")

  private static let renderingTooLongRule = Rule.error(
    "rendering-too-long", "render", "A rendering can have at most 268,435,456 samples.")
  private static let unknownTransducerModelRule = Rule.error(
    "hardware-unknown", "render", "The profile must describe the motion of its transducer.")

  /// Renders a document with the defaults of `temblor render`.
  ///
  /// - Returns: The samples, in −1…1.
  /// - Throws: The errors of `makeRenderer`.
  func renderSamples(of index: Int, profile: Int, rate: Double) throws(InputError) -> [Float] {
    var sampleRenderer = try makeRenderer(of: index, profile: profile, rate: rate)
    return sampleRenderer.samples()
  }

  /// Creates the renderer of a document with the defaults of `temblor render`: one channel, with
  /// trailing silence for the decay of the hardware.
  ///
  /// - Throws: An error if the document has no pattern, if its pattern cannot be compiled at the
  ///   rate, or if the rendering is too long.
  func makeRenderer(of index: Int, profile profileIndex: Int, rate: Double) throws(InputError)
    -> OfflineRenderer
  {
    let plan = try compilePlan(index, profile: profileIndex, rate: rate)
    let routing = OutputRouting().assigningTransducers(of: [profile(profileIndex)])
    let tailFrameCount = FrameConversion.frame(
      seconds: routing.tailDuration(rate: rate), rate: rate)
    let outputFrameCount = plan.frameCount + tailFrameCount
    guard outputFrameCount <= Self.maximumRenderedSampleCount else {
      throw InputError(
        Finding(
          Self.renderingTooLongRule, location: FileLocation(name: documents[index].fileName),
          "the rendering has \(outputFrameCount) samples; "
            + "the maximum is \(Self.maximumRenderedSampleCount)",
          suggestion: "use a lower sample rate or a shorter pattern"))
    }
    let fadeFrameCount = min(
      FrameConversion.frame(seconds: OfflineRenderer.fadeOutSeconds, rate: rate), outputFrameCount)
    return OfflineRenderer(
      plan: plan,
      settings: RenderSettings(
        routing: routing, outputFrameCount: outputFrameCount,
        fadeOutFrameCount: max(min(fadeFrameCount, tailFrameCount), min(48, outputFrameCount))))
  }

  /// Compiles the pattern of a document, or throws the reason that it cannot be compiled.
  func compilePlan(_ index: Int, profile: Int, rate: Double) throws(InputError) -> RenderPlan {
    guard documents.indices.contains(index), let composition = documents[index].audibleComposition
    else {
      let name = documents.indices.contains(index) ? documents[index].fileName : ""
      throw InputError(
        Finding(
          Self.emptySlotRule, location: FileLocation(name: name), "slot \(index) has no pattern"))
    }
    do throws(RenderError) {
      return try compilePlan(of: composition, profile: profile, rate: rate)
    } catch {
      throw InputError(error, location: documents[index].sourceMap.location(of:))
    }
  }

  /// Returns the acceleration of a profile's transducer when it is driven by a document. A
  /// full-scale sine at resonance has amplitude 1.
  ///
  /// - Throws: An error if the model of the transducer is unknown, or if the document cannot be
  ///   rendered.
  func simulateAcceleration(_ index: Int, profile profileIndex: Int, rate: Double)
    throws(InputError)
    -> [Float]
  {
    let profile = profile(profileIndex)
    guard let hardware = profile.hardware, let model = hardware.model else {
      throw InputError(
        Finding(
          Self.unknownTransducerModelRule, location: FileLocation(name: ""),
          "the profile \(profile.name.quoted()) has no model of its transducer"))
    }
    var transducerSimulation = TransducerSimulation(
      model, modes: hardware.additionalResonances, rate: rate)
    return try renderSamples(of: index, profile: profileIndex, rate: rate).map {
      transducerSimulation.nextAcceleration(drive: $0)
    }
  }

  /// Returns the minimum and the maximum sample of each column, as a flat list.
  static func columnExtremes(of samples: [Float], columns: Int) -> [Float] {
    guard !samples.isEmpty, columns > 0 else { return [] }
    return (0..<columns).flatMap { column -> [Float] in
      // The product has 64 bits, because it may exceed the 32 bits of an address.
      func startIndex(of column: Int) -> Int {
        Int(Int64(samples.count) * Int64(column) / Int64(columns))
      }
      let start = startIndex(of: column)
      let columnSamples = samples[start..<max(start + 1, startIndex(of: column + 1))]
      return [columnSamples.min() ?? 0, columnSamples.max() ?? 0]
    }
  }
}

/// A sound file that the host has decoded.
struct DecodedSound {
  var interleaved: [Float]
  var channelCount: Int
  var sampleRateHertz: Double

  /// Returns the approximate number of frames after conversion to another sample rate.
  func frameCount(playedAtHertz targetRate: Double) -> Double {
    Double(interleaved.count / channelCount) * targetRate / sampleRateHertz
  }
}
