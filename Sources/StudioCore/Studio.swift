internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import PatternRules
internal import Reading
internal import TransducerProfiles
internal import VendorFormats

/// What a page or another host works with: patterns in slots, how they sound, and what is said about them.
///
/// Not for several threads at once; a host that needs several makes an instance of the module for each.
final class Studio {
  /// A and B, and one for copies.
  var slots = [Slot(), Slot(), Slot()]
  /// Sound files by the paths that patterns name.
  var sounds: [String: HostSound] = [:]
  /// The profiles that are shipped, and behind them those of a user.
  var profiles = ProfileCatalog.names.compactMap { ProfileCatalog.profile(named: $0) }
  /// The last rendering: its samples, their rate and the profile.
  var rendered: (samples: [Float], rate: Double, profile: Int) = ([], Studio.usualRate, 0)
  /// What the last conversion could not keep.
  var losses: [PlacedLoss] = []

  /// The most slots of a host.
  private static let slotLimit = 65_536

  /// Makes the slots up to a number, where so many may be.
  func makeSlots(upTo number: Int) {
    while slots.count <= number, number < Self.slotLimit { slots.append(Slot()) }
  }

  /// What is asked for by a name, as bytes.
  func report(_ name: String, slot: Int, profile: Int) -> [UInt8] {
    switch name {
    case "formats": return listFormats()
    case "losses": return JSONWriter.list { $0.elements(losses) }
    case "profiles": return listProfiles()
    default: break
    }
    guard slots.indices.contains(slot) else { return [] }
    switch name {
    case "text": return slots[slot].text
    case "original": return slots[slot].original
    case "history": return history(slot)
    case "lines": return JSONWriter.list { list in for line in slots[slot].changedLines { list.element(line) } }
    case "score": return score(slot)
    case "origin": return origin(slot)
    case "check": return check(slot, profile: profile)
    default: return []
    }
  }

  /// The formats as JSON.
  private func listFormats() -> [UInt8] {
    JSONWriter.list { list in
      for format in FormatRegistry.standard.formats {
        list.object { object in
          object.member("id", format.id)
          object.member("title", format.title)
          object.array("extensions") { endings in for ending in format.endings { endings.element(ending) } }
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
    let file = SourceFile(slots[slot].text, name: slots[slot].name)
    guard let made = try? Conversion.convert(file, from: .ahap, to: target) else { return nil }
    losses = made.losses
    return made.bytes
  }

  /// The format that a slot was opened from and what was lost, as JSON.
  private func origin(_ slot: Int) -> [UInt8] {
    let origin = slots[slot].origin
    return JSONWriter.fields { object in
      object.member("format", origin?.format.id ?? HapticFormat.ahap.id)
      object.member("title", origin?.format.title ?? HapticFormat.ahap.title)
      object.array("losses") { $0.elements(origin?.losses ?? []) }
    }
  }

  /// What can be undone and redone, as JSON.
  private func history(_ slot: Int) -> [UInt8] {
    let history = slots[slot].history
    return JSONWriter.fields { object in
      for (key, label) in [("undo", history.undo), ("redo", history.redo)] {
        if let label { object.member(key, label) } else { object.null(key) }
      }
      object.member("changed", history.isChanged)
      object.member("readable", slots[slot].isReadable)
    }
  }

  // MARK: - What is drawn

  /// What is drawn of a slot: events as they are written and as they are felt, curves and parameters.
  ///
  /// `felt` has time, intensity and sharpness of each corner, one behind the other; `points` time and value. The
  /// numbers of points in paths are `order`, where the text does not have them by time.
  func score(_ slot: Int) -> [UInt8] {
    guard let editor = slots[slot].editor else { return [] }
    let pattern = editor.pattern
    let felt = FeltControls(pattern)
    return JSONWriter.fields { file in
      file.member("duration", pattern.duration)
      file.member("name", slots[slot].name)
      if let title = editor.reading.metadata["Project"] { file.member("title", title) }
      file.member("format", slots[slot].origin?.format.id ?? HapticFormat.ahap.id)
      file.array("events") { list in
        for (index, event) in pattern.events.enumerated() {
          list.object { $0.write(event, path: "events[\(index)]", felt) }
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
              object.array("order") { list in for number in order { list.element(number) } }
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

  // MARK: - What is said

  /// The rules there are, for allowances.
  private static let rules =
    FormatRegistry.standard.rules + PatternRules.composition + PatternRules.defaults + PatternRules.hardware
    + PatternRules.refusals

  /// What is wrong with a text, in its order, as `temblor check --profile` reports it.
  ///
  /// Sound files that were not handed over are missing.
  func findings(of slot: Int, profile: Int) -> [Finding] {
    let (text, name) = (slots[slot].text, slots[slot].name)
    if let error = slots[slot].error, slots[slot].origin == nil, !isAHAP(text, name) { return [error.finding] }
    let examination = HapticFormat.ahap.examine(SourceFile(text, name: name))
    let places = examination.places.place(of:)
    var others: [Finding] = examination.sounds.filter { sounds[$0.path] == nil }.map { sound in
      Finding(
        .soundMissing, severity: .warning, place: sound.place, "the sound file \(sound.path.quoted()) is not here",
        suggestion: "drop it on the page")
    }
    if let composition = examination.composition {
      others += PatternRules.findings(in: composition, places: places)
      others += PatternRules.defaultFindings(in: composition, places: places)
      do {
        let plan = try plan(of: composition, profile: profile, rate: Self.examinedRate)
        others += PatternRules.polyphonyFindings(voiceCount: plan.maximumVoiceCount, places: places)
        if plan.length <= Int64(Self.examinedRate * Self.longestExamined) {
          others += PatternRules.hardwareFindings(
            in: composition, profile: self.profile(profile), plan: plan, places: places)
        }
      } catch { others.append(InputError(error, places: places).finding) }
    }
    return examination.judged(adding: others, rules: Self.rules)
  }

  /// The rate at which hardware is looked at, and the most seconds of a pattern that are, so that an answer is quick.
  private static let examinedRate = 48_000.0
  private static let longestExamined = 30.0

  private func isAHAP(_ text: [UInt8], _ name: String) -> Bool {
    (try? FormatRegistry.standard.format(of: SourceFile(text, name: name)))?.id == HapticFormat.ahap.id
  }

  /// The findings as JSON, each with the part it is about where that is known.
  func check(_ slot: Int, profile: Int) -> [UInt8] {
    let editor = slots[slot].isReadable ? slots[slot].editor : nil
    return JSONWriter.list { list in
      for finding in findings(of: slot, profile: profile) {
        list.object { $0.members(of: finding, path: editor?.path(ofValueAt: finding.place.path)) }
      }
    }
  }
}

extension JSONWriter {
  /// The text of a list.
  static func list(_ contents: (inout JSONArrayWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(layout: .compact)
    writer.array(contents)
    return writer.finish()
  }

  /// The text of an object.
  static func fields(_ contents: (inout JSONObjectWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(layout: .compact)
    writer.object(contents)
    return writer.finish()
  }
}

/// A sound file as a host has decoded it.
struct HostSound {
  var interleaved: [Float]
  var channelCount: Int
  var rate: Double

  /// The sound at the rate of a plan.
  func buffer(rate: Double) -> AudioBuffer {
    AudioBuffer(interleaved: interleaved, channelCount: channelCount, rate: self.rate, playedAt: rate)
  }
}

extension JSONObjectWriter {
  fileprivate mutating func write(_ event: HapticEvent, path: String, _ felt: FeltControls) {
    member("kind", event.kind.rawValue)
    member("path", path)
    member("time", event.time)
    if let duration = event.duration { member("duration", duration) }
    if let waveform = event.waveform { member("file", waveform.path) }
    for field in AHAPField.allCases {
      guard let id = field.parameter, event.kind.responds(to: id) else { continue }
      if event.parameters[id] != nil || id == .hapticIntensity || id == .hapticSharpness {
        member(field.rawValue, event.value(of: id))
      }
    }
    guard event.kind.isHaptic else { return }
    array("felt") { points in
      for point in felt.points(of: event) {
        for number in [point.time, point.intensity, point.sharpness] { points.element(number) }
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
    if let suggestion = finding.suggestion { member("hint", suggestion) }
    member("file", finding.place.name)
    if case .text(let line, let column) = finding.place.position {
      member("line", line)
      member("column", column)
    }
    if let path { member("path", path) }
    member("place", finding.place.path)
  }
}
