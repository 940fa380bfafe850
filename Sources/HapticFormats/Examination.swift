public import Reading
public import HapticModel

/// Everything a format has to say about a file.
public struct Examination: Sendable {
  /// A sound file that a pattern plays. Whether it exists is not known here.
  public struct SoundReference: Equatable, Sendable {
    /// The path as the file gives it, relative to the file's folder.
    public var path: String
    /// Where the file gives it.
    public var place: SourcePlace

    /// Makes a reference.
    public init(path: String, place: SourcePlace) {
      self.path = path
      self.place = place
    }
  }

  /// A rule that the file allows itself to break.
  public struct Allowance: Equatable, Sendable {
    /// The rule as the file names it.
    public var rule: RuleID
    /// Why, on one line.
    public var reason: String
    /// Where the file says so.
    public var place: SourcePlace

    /// Makes an allowance.
    public init(_ rule: RuleID, reason: String, place: SourcePlace) {
      self.rule = rule
      self.reason = reason
      self.place = place
    }
  }

  /// What the file holds, or nil where it has errors.
  public var composition: HapticComposition?
  /// What was found, in the order of the file; allowances are not applied, see ``judged(adding:rules:checked:)``.
  public var findings: [Finding]
  /// How many errors there are, those without a finding of their own included.
  public var errorCount: Int
  /// What the file holds and a composition cannot.
  public var losses: [Loss]
  /// Where the parts of the composition stand.
  public var places: SourcePlaces
  /// The sound files to look for, in the order of the file.
  public var sounds: [SoundReference]
  /// The rules that the file allows itself to break.
  public var allowances: [Allowance]
  /// What else the file says about itself, such as a version, in its order.
  public var details: [(name: String, value: String)]

  /// Makes an examination; without an error count the errors among the findings are counted.
  public init(
    composition: HapticComposition?, findings: [Finding] = [], errorCount: Int? = nil, losses: [Loss] = [],
    places: SourcePlaces, sounds: [SoundReference] = [], allowances: [Allowance] = [],
    details: [(name: String, value: String)] = []
  ) {
    self.composition = composition
    self.findings = findings
    self.errorCount = errorCount ?? findings.count { $0.severity == .error }
    self.losses = losses
    self.places = places
    self.sounds = sounds
    self.allowances = allowances
    self.details = details
  }

  /// The examination of a file that cannot be read at all.
  public init(_ error: InputError) {
    self.init(
      composition: nil, findings: [error.finding], errorCount: error.otherErrorCount + 1,
      places: .model(name: error.place.name))
  }

  /// The composition, or the first error.
  public func get() throws(InputError) -> HapticComposition {
    if let first = findings.first(where: { $0.severity == .error }) {
      throw InputError(first, otherErrorCount: errorCount - 1)
    }
    return composition ?? HapticComposition(layers: [])
  }
}

// MARK: - Allowances

extension Examination {
  /// The rules about allowances themselves.
  public static let rules = [unknownRule, unusedAllowance]

  private static let unknownRule = Rule.warning(
    "unknown-rule", "grammar", "AllowedRules should contain only existing rules.")
  private static let unusedAllowance = Rule.note(
    "unused-allowance", "grammar", "AllowedRules should not contain rules that the file does not break.")

  /// The findings of the file and of further checks, in the order of the file, with its allowances
  /// applied.
  ///
  /// Findings below errors of an allowed rule become notes. Allowances of unknown rules, and those
  /// that nothing needs, are reported.
  ///
  /// - Parameters:
  ///   - others: Findings of other checks of the same file.
  ///   - rules: All rules there are.
  ///   - isChecked: Whether a rule was checked; allowances of others are not called unused.
  public func judged(adding others: [Finding] = [], rules: [Rule], checked isChecked: (Rule) -> Bool = { _ in true })
    -> [Finding]
  {
    var all = findings + others
    let hasErrors = all.contains { $0.severity == .error }
    var allowed: [RuleID: String] = [:]
    for allowance in allowances {
      let id = allowance.rule
      guard let rule = rules.first(where: { $0.id == id }) else {
        let names = JSONNames(rules.map { $0.id.text })
        all.append(
          Finding(
            Self.unknownRule, place: allowance.place, "unknown rule \(allowance.rule.text.quoted())",
            suggestion: names.nearest(to: allowance.rule.text).map { "did you mean \"\($0)\"?" }))
        continue
      }
      allowed[id] = allowance.reason
      let isUsed = all.contains { $0.rule == id && $0.severity < .error }
      guard !isUsed, !hasErrors, isChecked(rule) else { continue }
      all.append(
        Finding(
          Self.unusedAllowance, place: allowance.place,
          rule.severity == .error
            ? "\"\(id)\" is an error and cannot be allowed" : "unnecessary: the file does not break \"\(id)\""))
    }
    let order = all.indices.sorted {
      (all[$0].place.position, all[$0].rule, $0) < (all[$1].place.position, all[$1].rule, $1)
    }
    return FindingFilter(allowed: allowed).apply(to: order.map { all[$0] })
  }
}

// MARK: - Places

/// Where the parts of a composition stand in the file they were read from.
public struct SourcePlaces: Sendable {
  private let find: @Sendable (CompositionElement) -> SourcePlace

  /// Makes the places that a function finds; it gives the whole file for a part that was not read from one value.
  public init(_ find: @escaping @Sendable (CompositionElement) -> SourcePlace) { self.find = find }

  /// The place of a part; the whole file where the part was not read from one value.
  public func place(of element: CompositionElement) -> SourcePlace { find(element) }

  /// The places of a composition that was made in code: only paths, as `events[3]`, with the index of its layer in
  /// front of a part that is not of the first one.
  ///
  /// - Parameter name: What messages call the composition.
  public static func model(name: String) -> SourcePlaces {
    @Sendable func path(_ layer: Int, _ list: String, _ index: Int) -> String {
      (layer == 0 ? "" : "layers[\(layer)].") + "\(list)[\(index)]"
    }
    return SourcePlaces { element in
      let path =
        switch element {
        case .composition: ""
        case .layer(let layer): "layers[\(layer)]"
        case .event(let event): path(event.layer, "events", event.event)
        case .parameter(let layer, let index): path(layer, "parameters", index)
        case .curve(let layer, let index): path(layer, "curves", index)
        }
      return SourcePlace(name: name, path: path)
    }
  }
}
