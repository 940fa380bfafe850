internal import CMath
internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import PatternRules
internal import Reading
internal import SignalAnalysis
internal import SoundTracing
internal import TransducerProfiles
internal import VendorFormats

/// The state of a studio: documents, sound files, and profiles, with reports about them.
///
/// - Note: Not thread-safe. A page with several threads creates one instance of the module for
///   each.
final class Studio {
  /// The documents. 0 and 1 are A and B, 2 is for copies.
  var documents = [Document(), Document(), Document()]
  /// The sound files, by their paths in patterns.
  var sounds: [String: DecodedSound] = [:]
  /// The shipped profiles, then those of the user.
  var profiles = ProfileCatalog.names.compactMap { ProfileCatalog.profile(named: $0) }
  /// The last rendering: its samples, their rate, and the index of the profile.
  var lastRendering: (samples: [Float], rate: Double, profile: Int) = ([], Studio.defaultRate, 0)
  /// The losses of the last conversion.
  var losses: [LocatedLoss] = []

  private static let maximumDocumentCount = 65_536

  /// Creates documents up to an index, if it is within the maximum.
  func makeDocuments(upTo number: Int) {
    while documents.count <= number, number < Self.maximumDocumentCount {
      documents.append(Document())
    }
  }

  /// Returns a report by its name.
  func report(_ name: String, slot: Int, profile: Int) -> [UInt8] {
    switch name {
    case "formats":
      return formatsJSON()
    case "losses":
      return JSONWriter.arrayText { $0.elements(losses) }
    case "profiles":
      return profilesJSON()
    case _ where !documents.indices.contains(slot):
      return []
    case "text":
      return documents[slot].text
    case "original":
      return documents[slot].original
    case "history":
      return historyJSON(slot)
    case "lines":
      return JSONWriter.arrayText { list in
        for line in documents[slot].changedLines {
          list.element(line)
        }
      }
    case "score":
      return scoreJSON(slot)
    case "origin":
      return originJSON(slot)
    case "check":
      return findingsJSON(slot, profile: profile)
    default:
      return []
    }
  }

  private func formatsJSON() -> [UInt8] {
    JSONWriter.arrayText { list in
      for format in FormatRegistry.standard.formats {
        list.object { object in
          object.member("id", format.id)
          object.member("title", format.title)
          object.array("extensions") { endings in
            for ending in format.fileExtensions {
              endings.element(ending)
            }
          }
          object.member("reads", true)
          object.member("writes", format.isWritable)
        }
      }
    }
  }

  /// Returns the text of a document in another format, or nil if it cannot be written.
  func save(_ slot: Int, as id: String) -> [UInt8]? {
    losses = []
    guard let target = FormatRegistry.standard.format(id: id) else { return nil }
    let file = SourceFile(documents[slot].text, name: documents[slot].name)
    guard let made = try? DocumentConversion.convert(file, from: .ahap, to: target) else {
      return nil
    }
    losses = made.losses
    return made.bytes
  }

  /// Returns the original format of a document and the losses of its conversion, as JSON.
  private func originJSON(_ slot: Int) -> [UInt8] {
    let origin = documents[slot].origin
    return JSONWriter.objectText { object in
      object.member("format", origin?.format.id ?? HapticFormat.ahap.id)
      object.member("title", origin?.format.title ?? HapticFormat.ahap.title)
      object.array("losses") { $0.elements(origin?.losses ?? []) }
    }
  }

  /// Returns the names of the next undo and redo steps, as JSON.
  private func historyJSON(_ slot: Int) -> [UInt8] {
    let history = documents[slot].history
    return JSONWriter.objectText { object in
      for (key, label) in [("undo", history.undo), ("redo", history.redo)] {
        if let label {
          object.member(key, label)
        } else {
          object.null(key)
        }
      }
      object.member("changed", history.isChanged)
      object.member("readable", documents[slot].isReadable)
    }
  }

  /// Returns the drawable content of a document as JSON: events with their effective controls,
  /// curves, and parameters.
  ///
  /// - `felt` is a flat list of time, intensity, and sharpness at each corner of an event.
  /// - `points` is a flat list of times and values.
  /// - `order` has the path indices of the points, if the text does not list them by time.
  func scoreJSON(_ slot: Int) -> [UInt8] {
    guard let editor = documents[slot].editor else { return [] }
    let pattern = editor.pattern
    let felt = EffectiveParameters(pattern)
    return JSONWriter.objectText { file in
      file.member("duration", pattern.duration)
      file.member("name", documents[slot].name)
      if let title = editor.content.metadata["Project"] {
        file.member("title", title)
      }
      file.member("format", documents[slot].origin?.format.id ?? HapticFormat.ahap.id)
      file.array("events") { list in
        for (index, event) in pattern.events.enumerated() {
          list.object { $0.write(event, path: "events[\(index)]", felt: felt) }
        }
      }
      file.array("curves") { list in
        for (index, curve) in pattern.curves.enumerated() {
          list.object { object in
            object.member("id", curve.id.rawValue)
            object.member("path", "curves[\(index)]")
            object.member("time", curve.time)
            object.array("points") { points in
              for point in curve.controlPoints {
                points.element(point.time)
                points.element(Double(point.value))
              }
            }
            let order = editor.pointOrder(ofCurve: index)
            if order != Array(order.indices) {
              object.array("order") { list in
                for number in order {
                  list.element(number)
                }
              }
            }
          }
        }
      }
      file.array("parameters") { list in
        for (index, parameter) in pattern.parameters.enumerated() {
          list.object { object in
            object.member("id", parameter.id.rawValue)
            object.member("path", "parameters[\(index)]")
            object.member("time", parameter.time)
            object.member("value", parameter.value)
          }
        }
      }
    }
  }

  /// All existing rules, for suppressions.
  private static let rules =
    FormatRegistry.standard.rules + PatternRules.compositionRules + PatternRules.playbackRules
    + PatternRules.hardwareRules
    + PatternRules.compilationRules

  /// Returns the findings of a document in the order of its text, as `temblor check --profile`
  /// does.
  ///
  /// A sound file that the host has not added is missing.
  func findings(of slot: Int, profile: Int) -> [Finding] {
    let file = SourceFile(documents[slot].text, name: documents[slot].name)
    if let error = documents[slot].error, documents[slot].origin == nil,
      (try? FormatRegistry.standard.format(of: file))?.id != HapticFormat.ahap.id
    {
      return [error.finding]
    }
    let examination = HapticFormat.ahap.examine(file)
    let places = examination.sourceMap.location(of:)
    var others: [Finding] = examination.sounds.filter { sounds[$0.path] == nil }.map { sound in
      Finding(
        .soundMissing, severity: .warning, location: sound.location,
        "the sound file \(sound.path.quoted()) is not here",
        suggestion: "drop it on the page")
    }
    if let composition = examination.composition {
      others += PatternRules.findings(in: composition, location: places)
      others += PatternRules.defaultFindings(in: composition, location: places)
      do {
        let plan = try plan(of: composition, profile: profile, rate: Self.defaultRate)
        others += PatternRules.polyphonyFindings(
          voiceCount: plan.maximumVoiceCount, location: places)
        if plan.length <= Int64(Self.defaultRate * Self.maximumHardwareCheckSeconds) {
          others += PatternRules.hardwareFindings(
            in: composition, profile: self.profile(profile), plan: plan, location: places)
        }
      } catch {
        others.append(InputError(error, location: places).finding)
      }
    }
    return examination.findings(adding: others, rules: Self.rules)
  }

  /// The maximum duration in seconds for the hardware check, so that reports are quick.
  private static let maximumHardwareCheckSeconds = 30.0

  /// Returns the findings as JSON, each with the path of its part if there is one.
  func findingsJSON(_ slot: Int, profile: Int) -> [UInt8] {
    let editor = documents[slot].isReadable ? documents[slot].editor : nil
    return JSONWriter.arrayText { list in
      for finding in findings(of: slot, profile: profile) {
        list.object {
          $0.members(of: finding, path: editor?.partPath(forValuePath: finding.location.path))
        }
      }
    }
  }

  /// Returns the profile with an index, or the first one for an invalid index.
  func profile(_ index: Int) -> TransducerProfile {
    profiles.indices.contains(index) ? profiles[index] : profiles.first ?? .phone
  }

  /// Returns the profiles as JSON: names, descriptions, and the played frequencies of sharpness 0
  /// and 1.
  func profilesJSON() -> [UInt8] {
    JSONWriter.arrayText { list in
      for profile in profiles {
        let played = profile.bandMapped(rate: Self.defaultRate).frequency
        list.object { object in
          object.member("name", profile.name)
          object.member("title", profile.hardware?.product ?? profile.name)
          object.member("summary", profile.summary)
          object.member("kind", profile.hardware == nil ? "mapping" : "transducer")
          object.member("low", played.low)
          object.member("high", played.high)
          object.member("hasHardware", profile.hardware != nil)
        }
      }
    }
  }

  func hertz(profile index: Int, sharpness: Double) -> Double {
    profile(index).bandMapped(rate: Self.defaultRate).frequency.hertz(
      atSharpness: min(max(sharpness, 0), 1))
  }

  static let defaultRate = 48_000.0

  /// Compiles a composition for a profile. Events whose sound file the host has not added are
  /// omitted.
  func plan(of composition: HapticComposition, profile index: Int, rate: Double) throws(RenderError)
    -> RenderPlan
  {
    var composition = composition.linearized()
    var samples: [String: AudioBuffer] = [:]
    for layer in composition.layers.indices {
      composition.layers[layer].pattern.events.removeAll { event in
        guard let path = event.waveform?.path, event.kind.playsFile else { return false }
        guard let sound = sounds[path] else { return true }
        if samples[path] == nil {
          samples[path] = AudioBuffer(
            interleaved: sound.interleaved, channelCount: sound.channelCount, rate: sound.rate,
            playedAt: rate)
        }
        return false
      }
    }
    return try RenderPlan(
      compiling: composition, profile: profile(index), rate: rate, samples: samples)
  }

  /// Compiles the audible pattern of a document; nil if it cannot be compiled.
  func plan(_ slot: Int, profile: Int, rate: Double) -> RenderPlan? {
    try? compile(slot, profile: profile, rate: rate)
  }

  private static let emptySlot = Rule.error(
    "slot-empty", "syntax", "A slot must have a pattern before it is rendered.")

  /// Renders a document with the defaults of `temblor render`: one channel, with trailing silence
  /// for the decay of the hardware.
  ///
  /// - Returns: The samples, in −1…1; none if the document cannot be rendered.
  func render(_ slot: Int, profile index: Int, rate: Double) -> [Float] {
    (try? samples(of: slot, profile: index, rate: rate)) ?? []
  }

  /// Renders a document, or throws the reason that it cannot be rendered.
  ///
  /// - Throws: An error if the document has no pattern, or if its pattern cannot be compiled at the
  ///   rate.
  func samples(of slot: Int, profile index: Int, rate: Double) throws(InputError) -> [Float] {
    let plan = try compile(slot, profile: index, rate: rate)
    let routing = OutputRouting().fitted(to: [profile(index)])
    let tail = FrameConversion.frame(seconds: routing.tail(rate: rate), rate: rate)
    let length = plan.length + tail
    let fade = min(FrameConversion.frame(seconds: OfflineRenderer.fadeDuration, rate: rate), length)
    var renderer = OfflineRenderer(
      plan: plan,
      settings: RenderSettings(
        routing: routing, length: length, fadeLength: max(min(fade, tail), min(48, length))))
    return renderer.samples()
  }

  /// Compiles the pattern of a document, or throws the reason that it cannot be compiled.
  private func compile(_ slot: Int, profile: Int, rate: Double) throws(InputError) -> RenderPlan {
    guard documents.indices.contains(slot), let composition = documents[slot].composition else {
      let place = FileLocation(name: documents.indices.contains(slot) ? documents[slot].name : "")
      throw InputError(Finding(Self.emptySlot, location: place, "slot \(slot) has no pattern"))
    }
    do throws(RenderError) {
      return try plan(of: composition, profile: profile, rate: rate)
    } catch {
      let file = SourceFile(documents[slot].text, name: documents[slot].name)
      throw InputError(error, location: HapticFormat.ahap.examine(file).sourceMap.location(of:))
    }
  }

  /// Returns the acceleration of a profile's transducer when it is driven by a document. A
  /// full-scale sine at resonance has amplitude 1. Empty if the model is unknown.
  func acceleration(_ slot: Int, profile index: Int, rate: Double) -> [Float] {
    guard let hardware = profile(index).hardware, let model = hardware.model else { return [] }
    var simulation = TransducerSimulation(model, modes: hardware.modes, rate: rate)
    return render(slot, profile: index, rate: rate).map { simulation.nextAcceleration(drive: $0) }
  }

  /// Returns the samples between two times, with silence beyond the ends.
  static func excerpt(of samples: [Float], rate: Double, from start: Double, to end: Double)
    -> [Float]
  {
    let first = FrameConversion.frame(seconds: start, rate: rate)
    let last = max(
      first, min(FrameConversion.frame(seconds: end, rate: rate), first + maximumExcerptLength))
    return (first..<last).map {
      samples.indices.contains(Int(clamping: $0)) ? samples[Int(clamping: $0)] : 0
    }
  }

  private static let maximumExcerptLength: Int64 = 1 << 24

  /// Returns the minimum and the maximum sample of each column, as a flat list.
  static func columnExtremes(of samples: [Float], columns: Int) -> [Float] {
    guard !samples.isEmpty, columns > 0 else { return [] }
    return (0..<columns).flatMap { column -> [Float] in
      // The product has 64 bits, because it may exceed the 32 bits of an address.
      func place(_ column: Int) -> Int {
        Int(Int64(samples.count) * Int64(column) / Int64(columns))
      }
      let part = samples[place(column)..<max(place(column) + 1, place(column + 1))]
      return [part.min() ?? 0, part.max() ?? 0]
    }
  }
}

extension JSONWriter {
  static func arrayText(_ contents: (inout JSONArrayWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(layout: .compact)
    writer.array(contents)
    return writer.finish()
  }

  static func objectText(_ contents: (inout JSONObjectWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(layout: .compact)
    writer.object(contents)
    return writer.finish()
  }
}

/// A sound file that the host has decoded.
struct DecodedSound {
  var interleaved: [Float]
  var channelCount: Int
  var rate: Double
}

extension JSONObjectWriter {
  fileprivate mutating func write(_ event: HapticEvent, path: String, felt: EffectiveParameters) {
    member("kind", event.kind.rawValue)
    member("path", path)
    member("time", event.time)
    if let duration = event.duration {
      member("duration", duration)
    }
    if let waveform = event.waveform {
      member("file", waveform.path)
    }
    for field in AHAPField.allCases {
      guard let id = field.parameter, event.kind.responds(to: id) else { continue }
      if event.parameters[id] != nil || id == .hapticIntensity || id == .hapticSharpness {
        member(field.rawValue, event.value(of: id))
      }
    }
    guard event.kind.isHaptic else { return }
    array("felt") { points in
      for point in felt.points(of: event) {
        for number in [point.time, point.intensity, point.sharpness] {
          points.element(number)
        }
      }
    }
  }

  /// Writes a finding with its location.
  ///
  /// - Parameters:
  ///   - finding: The finding.
  ///   - path: The path of the part concerned, or nil.
  mutating func members(of finding: Finding, path: String? = nil) {
    member("severity", finding.severity.description)
    member("rule", finding.rule.text)
    member("message", finding.message)
    if let suggestion = finding.suggestion {
      member("hint", suggestion)
    }
    member("file", finding.location.name)
    if case .text(let line, let column) = finding.location.position {
      member("line", line)
      member("column", column)
    }
    if let path {
      member("path", path)
    }
    member("place", finding.location.path)
  }
}

/// Computes spectrograms: the level of each frequency over time.
enum Spectrogram {
  /// The length of the window, in seconds.
  private static let window = 0.064
  /// The level of silence, in decibels.
  private static let silence = Float(-120)

  /// Returns levels in decibels relative to full scale, column by column, with the rows from 0 Hz
  /// up.
  ///
  /// 1. The samples are resampled to at most four times the highest frequency.
  /// 2. Each column is the middle of a Hann window.
  /// 3. Each row is the magnitude of the window's correlation with a complex sine.
  ///
  /// - Parameters:
  ///   - samples: The samples.
  ///   - rate: The sample rate, in hertz.
  ///   - columns: The number of columns.
  ///   - rows: The number of rows.
  ///   - hertz: The frequency above the last row.
  static func decibels(
    of samples: [Float], rate: Double, columns: Int, rows: Int, upTo hertz: Double
  ) -> [Float] {
    guard columns > 0, rows > 0, hertz > 0, !samples.isEmpty else { return [] }
    let lower = min(rate, 4 * hertz)
    let signal = SignalResampler.resampled(samples, from: rate, to: lower)
    let length = max(8, Int((window * lower).rounded()))
    let weights = (0..<length).map {
      Float(0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / Double(length)))
    }
    let sum = weights.reduce(0, +)
    // The complex sine of each row under the window. A full-scale sine has magnitude 1.
    let waves = (0..<rows).flatMap { row -> [SIMD2<Float>] in
      let turns = hertz * (Double(row) + 0.5) / Double(rows) / lower
      return (0..<length).map { index in
        let angle = 2 * .pi * turns * Double(index)
        return SIMD2(Float(cos(angle)), Float(sin(angle))) * (2 * weights[index] / sum)
      }
    }
    var result: [Float] = []
    result.reserveCapacity(columns * rows)
    for column in 0..<columns {
      let start = Int((Double(column) + 0.5) / Double(columns) * Double(signal.count)) - length / 2
      let used = max(0, -start)..<max(max(0, -start), min(length, signal.count - start))
      for row in 0..<rows {
        var total = SIMD2<Float>()
        for index in used {
          total += waves[row * length + index] * signal[start + index]
        }
        let power = total.x * total.x + total.y * total.y
        result.append(power > 1e-12 ? Float(10 * log10(Double(power))) : silence)
      }
    }
    return result
  }
}

/// A loss with its location in the source file.
struct LocatedLoss {
  var loss: Loss
  var location: FileLocation
}

/// Converts patterns between formats, as `temblor convert` does.
enum DocumentConversion {
  private static let formatUnwritable = Rule.error(
    "format-unwritable", "syntax", "The format must be one that can be written.")

  /// Converts a file to one file of another format, also if the format would normally use several.
  ///
  /// - Returns: The bytes of the file, the losses, and the composition of the source.
  static func convert(_ file: SourceFile, from source: HapticFormat, to target: HapticFormat)
    throws(InputError) -> (
      bytes: [UInt8], losses: [LocatedLoss], composition: HapticComposition
    )
  {
    let examination = source.examine(file)
    let composition = try examination.get()
    if source.id == target.id, let canonical = try source.canonicalText(of: file) {
      return (canonical, [], composition)
    }
    let written = try write(composition, as: target, name: file.name)
    let losses = (examination.losses + written.losses).map { loss in
      LocatedLoss(
        loss: loss, location: loss.location ?? examination.sourceMap.location(of: loss.element))
    }
    return (written.bytes, losses, composition)
  }

  private static func write(_ composition: HapticComposition, as target: HapticFormat, name: String)
    throws(InputError)
    -> (bytes: [UInt8], losses: [Loss])
  {
    var options = WritingOptions(baseName: FormatRegistry.standard.stem(of: name))
    var written = try target.write(composition, options: options)
    if let several = written, several.files.count > 1 {
      options.split = .never
      written = try target.write(composition, options: options)
    }
    guard let written, let first = written.files.first else {
      throw InputError(
        Finding(
          Self.formatUnwritable, location: FileLocation(name: name),
          "the format \(target.id) cannot be written"))
    }
    return (first.bytes, written.losses)
  }

  private static let soundUntraceable = Rule.error(
    "sound-untraceable", "syntax", "A sound must last at most an hour, at 500 Hz to 1 MHz.")

  /// Traces a sound to an AHAP file. The profile is the one of a recording, or the one that the
  /// pattern is meant for.
  static func trace(_ sound: Signal, named name: String, _ profile: TransducerProfile)
    throws(InputError) -> SourceFile
  {
    let pattern: HapticPattern
    do {
      pattern = try SoundTrace(of: sound, profile: profile).pattern
    } catch {
      throw InputError(
        Finding(Self.soundUntraceable, location: FileLocation(name: name), error.description))
    }
    return SourceFile(
      try write(HapticComposition(pattern), as: .ahap, name: name).bytes, name: name)
  }
}

extension JSONArrayWriter {
  mutating func elements(_ losses: [LocatedLoss]) {
    for each in losses {
      object { object in
        object.member("kind", each.loss.kind.rawValue)
        object.member("message", each.loss.message)
        object.member("place", each.location.path)
        if case .text(let line, let column) = each.location.position {
          object.member("line", line)
          object.member("column", column)
        }
      }
    }
  }
}
