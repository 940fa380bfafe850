internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import PatternRules
internal import Reading
internal import VendorFormats

extension Studio {
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
    var writer = JSONWriter(layout: .compact)
    writer.array { list in
      for finding in findings(of: slot, profile: profile) {
        list.object { $0.members(of: finding, path: editor?.path(ofValueAt: finding.place.path)) }
      }
    }
    return writer.finish()
  }
}

extension JSONObjectWriter {
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
