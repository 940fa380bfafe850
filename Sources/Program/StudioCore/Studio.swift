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

/// What a page or another host works with: patterns in slots, how they sound, and what is said
/// about them.
///
/// Not for several threads at once; a host that needs several makes an instance of the module for
/// each.
final class Studio {
  /// A and B, and one for copies.
  var documents = [Document(), Document(), Document()]
  /// Sound files by the paths that patterns name.
  var sounds: [String: DecodedSound] = [:]
  /// The profiles that are shipped, and behind them those of a user.
  var profiles = ProfileCatalog.names.compactMap { ProfileCatalog.profile(named: $0) }
  /// The last rendering: its samples, their rate and the profile.
  var lastRendering: (samples: [Float], rate: Double, profile: Int) = ([], Studio.defaultRate, 0)
  /// What the last conversion could not keep.
  var losses: [LocatedLoss] = []

  private static let maximumDocumentCount = 65_536

  /// Makes the slots up to a number, where so many may be.
  func makeDocuments(upTo number: Int) {
    while documents.count <= number, number < Self.maximumDocumentCount {
      documents.append(Document())
    }
  }

  /// What is asked for by a name, as bytes.
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

  /// The text of a slot in another format; nil where it cannot be written.
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

  /// The format that a slot was opened from and what was lost, as JSON.
  private func originJSON(_ slot: Int) -> [UInt8] {
    let origin = documents[slot].origin
    return JSONWriter.objectText { object in
      object.member("format", origin?.format.id ?? HapticFormat.ahap.id)
      object.member("title", origin?.format.title ?? HapticFormat.ahap.title)
      object.array("losses") { $0.elements(origin?.losses ?? []) }
    }
  }

  /// What can be undone and redone, as JSON.
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

  /// What is drawn of a slot: events as they are written and as they are felt, curves and
  /// parameters.
  ///
  /// `felt` has time, intensity and sharpness of each corner, one behind the other; `points` time
  /// and value. The numbers of points in paths are `order`, where the text does not have them by
  /// time.
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

  /// The rules there are, for allowances.
  private static let rules =
    FormatRegistry.standard.rules + PatternRules.compositionRules + PatternRules.playbackRules
    + PatternRules.hardwareRules
    + PatternRules.compilationRules

  /// What is wrong with a text, in its order, as `temblor check --profile` reports it.
  ///
  /// Sound files that were not handed over are missing.
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

  /// The most seconds of a pattern whose hardware is looked at, so that an answer is quick.
  private static let maximumHardwareCheckSeconds = 30.0

  /// The findings as JSON, each with the part it is about where that is known.
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

  /// A profile by its number among those that are shipped; the first where none has it.
  func profile(_ index: Int) -> TransducerProfile {
    profiles.indices.contains(index) ? profiles[index] : profiles.first ?? .phone
  }

  /// The profiles as JSON: name, what it is, and the frequencies of sharpness 0 and 1 as they are
  /// played.
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

  /// Compiles a composition for a profile; events whose sound file was not handed over are left
  /// out.
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

  /// Compiles what sounds of a slot; nil where it has nothing that can be compiled.
  func plan(_ slot: Int, profile: Int, rate: Double) -> RenderPlan? {
    try? compile(slot, profile: profile, rate: rate)
  }

  private static let emptySlot = Rule.error(
    "slot-empty", "syntax", "A slot must have a pattern before it is rendered.")

  /// Renders a slot as `temblor render` does by itself: one channel, with the silence in which its
  /// hardware comes to rest.
  ///
  /// - Returns: The samples, in −1…1; none if the slot cannot be rendered.
  func render(_ slot: Int, profile index: Int, rate: Double) -> [Float] {
    (try? samples(of: slot, profile: index, rate: rate)) ?? []
  }

  /// Renders a slot, or tells why it cannot be rendered.
  ///
  /// - Throws: An error if the slot has no pattern, or if its pattern cannot be compiled at the
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

  /// Compiles the pattern of a slot, or tells why it cannot be compiled.
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

  /// The acceleration of a profile's transducer for what a slot drives it with, 1 for a full-scale
  /// sine at resonance; empty where that is not known.
  func acceleration(_ slot: Int, profile index: Int, rate: Double) -> [Float] {
    guard let hardware = profile(index).hardware, let model = hardware.model else { return [] }
    var simulation = TransducerSimulation(model, modes: hardware.modes, rate: rate)
    return render(slot, profile: index, rate: rate).map { simulation.nextAcceleration(drive: $0) }
  }

  /// The samples between two times; silence where there are none.
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

  /// The least and the greatest sample of each of some columns, one behind the other.
  static func columnExtremes(of samples: [Float], columns: Int) -> [Float] {
    guard !samples.isEmpty, columns > 0 else { return [] }
    return (0..<columns).flatMap { column -> [Float] in
      // Of 64 bits, since the product may have more than a memory address.
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

/// A sound file as a host has decoded it.
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

  /// Writes what is wrong and where.
  ///
  /// - Parameter path: The part it is about, where that is known.
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

/// Pictures of how much of each frequency a sound has over time.
enum Spectrogram {
  /// Seconds of the window, and the decibels of silence.
  private static let window = 0.064
  private static let silence = Float(-120)

  /// Decibels relative to full scale of each row of each column, the rows from 0 Hz up.
  ///
  /// Under Hann windows around the middle of each column; the sound is first taken to four times
  /// the highest frequency.
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
    // Cosine and sine of each row, under the window; 1 for a full-scale sine.
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

/// Something that was not kept, and where it stands in the file that was read.
struct LocatedLoss {
  var loss: Loss
  var location: FileLocation
}

/// Patterns from one format to another, as `temblor convert` makes them.
enum DocumentConversion {
  private static let formatUnwritable = Rule.error(
    "format-unwritable", "syntax", "The format must be one that can be written.")

  /// The bytes of a file in another format, and what they lack. One file where the format would
  /// have several.
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

  /// An AHAP file of a sound that was made with a profile, or for it.
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
