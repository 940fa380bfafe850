public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The haptic clip of the Meta Haptics SDK, Haptics Studio, Lofelt Studio and Nice Vibrations, a text
  /// in JSON, checked as the SDK's readers do; points of frequency behind the end are accepted, as by its older readers.
  ///
  /// A file is read as two layers: a continuous event with the envelopes of the file as its curves, and
  /// the emphases as transients that no curve acts on. Amplitudes are squares of intensities, frequencies
  /// of envelopes squares of sharpnesses.
  ///
  /// What was read from a clip is written number by number. Else overlapping events are added up,
  /// levels sampled to the tolerance, and transients put on points of the envelope.
  public static let hapticClip = json(
    "haptic", title: "Haptic clip (Meta, Lofelt)", endings: ["haptic"], rules: Rule.clip,
    isMarked: { $0.has("signals") },
    read: { json, options in
      var decoder = HapticClipDecoder()
      let clip = decoder.decode(json)
      if options.wantsFindings {
        decoder.log.addDeviations(of: json, byteOrderMark: .clipText, trailingComma: .clipText, duplicateKey: .clipText)
      }
      var composition: HapticComposition?
      if decoder.log.errorCount == 0 {
        composition = HapticComposition(
          layers: clip.clip.layers(options.amplitude), title: clip["project"], notes: clip["description"],
          author: clip["author"])
      }
      let version = clip.version.map(String.init).joined(separator: ".")
      return Examination(
        composition: composition, findings: decoder.log.findings(in: json, for: options),
        errorCount: decoder.log.errorCount,
        places: SourcePlaces(
          HapticClipPlaces(
            json: json, amplitude: decoder.amplitudeValue ?? 0,
            frequency: decoder.frequencyValue ?? decoder.amplitudeValue ?? 0, emphases: decoder.emphasisValues,
            tapLayer: clip.clip.isTapsAlone ? 0 : 1
          ).place(of:)),
        details: (version.isEmpty ? [] : [("version", version)]) + clip.metadata)
    },
    write: { (composition, options) throws(InputError) in
      try composition.checkFinite(.clipRange)
      var losses = LossLog()
      var file = HapticClipFile(metadata: composition.clipMetadata)
      file.clip =
        HapticClip(exactly: composition, options.amplitude)
        ?? HapticClip(approximating: composition, options: options, losses: &losses)
      return Writing([Writing.File(HapticClipDecoder.file.text(file))], losses: losses.finish())
    }, shape: { HapticClipDecoder.file.shape })
}

/// Where the parts of a clip stand in the text of its file.
struct HapticClipPlaces: Sendable {
  let json: JSONDocument
  let amplitude: Int
  let frequency: Int
  let emphases: [Int]
  /// The index of the layer of emphases.
  let tapLayer: Int

  func place(of element: CompositionElement) -> SourcePlace {
    let value: Int? =
      switch element {
      case .composition: 0
      case .layer(let layer): layer == tapLayer ? emphases.first : amplitude
      case .event(let event):
        event.layer != tapLayer ? amplitude : emphases.indices.contains(event.event) ? emphases[event.event] : nil
      case .parameter: nil
      case .curve(_, let index): index == 0 ? amplitude : frequency
      }
    return JSONValue(document: json, index: value ?? amplitude).place
  }
}

extension HapticComposition {
  fileprivate var clipMetadata: [(name: String, value: String)] {
    [("editor", "Temblor"), ("author", author ?? ""), ("project", title ?? ""), ("description", notes ?? "")]
  }
}
