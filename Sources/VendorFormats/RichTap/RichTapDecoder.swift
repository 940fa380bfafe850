internal import HapticFormats
internal import Reading

/// Reads a text in one of the two spellings, and notes what it finds.
struct RichTapDecoder {
  let json: JSONDocument
  let dialect: RichTapDialect
  let rules: RichTapRules
  var log = FindingLog()
  var document = RichTapDocument()
  /// The numbers of the values the events were read from, group by group.
  var eventValues: [[Int]] = []
  /// What else the file says about itself.
  var details: [(name: String, value: String)] = []
  /// Whether the file is of OpenHarmony's converter, for which some rules are only warnings.
  private var isOfConverter = false
  /// Whether the intensities of curves are percent.
  private var usesPercent = false
  private var unwrappedEvents: (first: Int, count: Int)?
  private var percentCurve: JSONValue?

  init(_ json: JSONDocument, dialect: RichTapDialect) {
    self.json = json
    self.dialect = dialect
    rules = dialect == .he ? .he : .oh
  }

  /// Reads everything that can be read; what cannot is in the log as an error.
  static func decode(_ json: JSONDocument, dialect: RichTapDialect) -> RichTapDecoder {
    var strict = RichTapDecoder(json, dialect: dialect)
    strict.decode()
    guard strict.unwrappedEvents != nil || strict.percentCurve != nil else { return strict }
    var lenient = RichTapDecoder(json, dialect: dialect)
    lenient.isOfConverter = true
    lenient.usesPercent = strict.percentCurve != nil
    lenient.decode()
    return lenient
  }

  private mutating func decode() {
    let root = json.root
    guard root.kind == .object else {
      log.add(rules.structure, at: root, "the file must be an object, not \(root.kind.noun)")
      return
    }
    var metadata: JSONValue?
    var pattern: JSONValue?
    var list: JSONValue?
    for member in root.members {
      switch (RichTapKey(of: member), dialect) {
      case (.metadata?, .he), (.metaData?, .oh): metadata = member
      case (.pattern?, .he): pattern = member
      case (.patternList?, .he), (.channels?, .oh): list = member
      default: continue
      }
    }
    if text(exceeds: dialect.maximumFileSize) {
      log.add(
        rules.fileSize, at: root, offset: 0,
        "the file has \(json.text.count) bytes; HarmonyOS refuses more than " + "\(dialect.maximumFileSize)")
    }
    switch dialect {
    case .he: decodeHE(metadata, pattern, list)
    case .oh: decodeOH(metadata, channels: list)
    }
    noteConverter()
  }

  private func text(exceeds size: Int) -> Bool { json.text.count > size }

  // MARK: HE

  private mutating func decodeHE(_ metadata: JSONValue?, _ pattern: JSONValue?, _ list: JSONValue?) {
    guard let metadata = object(metadata, .metadata, of: json.root) else { return }
    guard let version = version(of: metadata) else { return }
    let number = Int(exactly: version.number.rounded(.towardZero)) ?? 0
    switch number {
    case 1:
      details.append(("version", "1"))
      guard let pattern = array(pattern, .pattern, of: json.root) else { return }
      decodeGroup(RichTapDocument.Group(), pattern)
    case 2:
      details.append(("version", "2"))
      guard let list = array(list, .patternList, of: json.root) else { return }
      if list.elements.isEmpty { log.add(rules.structure, at: list, "PatternList is empty") }
      decodeList(list)
    default: log.add(rules.version, at: version.value, "Version is \(version.lexeme), not 1 or 2")
    }
  }

  private mutating func decodeList(_ list: JSONValue) {
    var previous = -1
    for entry in list.elements {
      guard expect(.object, entry, "an entry of PatternList") else { continue }
      var absolute: JSONValue?
      var pattern: JSONValue?
      for member in entry.members {
        switch RichTapKey(of: member) {
        case .absoluteTime: absolute = member
        case .pattern: pattern = member
        default: continue
        }
      }
      let time = integer(absolute, .absoluteTime, of: entry)
      if let time, let absolute, time <= previous {
        log.add(
          rules.absoluteTime, at: absolute,
          time < 0
            ? "AbsoluteTime is \(time); must not be negative"
            : "AbsoluteTime is \(time), not after the \(previous) of the pattern before")
      }
      previous = max(previous, time ?? 0)
      guard let pattern = array(pattern, .pattern, of: entry) else { continue }
      decodeGroup(RichTapDocument.Group(time: time ?? 0), pattern)
    }
  }

  // MARK: HarmonyOS

  private mutating func decodeOH(_ metadata: JSONValue?, channels: JSONValue?) {
    guard let metadata = object(metadata, .metaData, of: json.root) else { return }
    if let version = version(of: metadata) {
      details.append(("version", version.lexeme))
      if version.number != 1 { log.add(rules.version, at: version.value, "Version is \(version.lexeme), not 1.0") }
    }
    var number: JSONValue?
    for member in metadata.members where RichTapKey(of: member) == .channelNumber { number = member }
    let count = integer(number, .channelNumber, of: metadata)
    if let count, let number, !(1...2).contains(count) {
      log.add(rules.channelNumber, at: number, "ChannelNumber is \(count), not 1 or 2")
    }
    guard let channels = array(channels, .channels, of: json.root) else { return }
    var found = 0
    for channel in channels.elements {
      found += 1
      decodeChannel(channel)
    }
    if let count, let number, count != found {
      log.add(rules.channelCount, at: number, "ChannelNumber is \(count); Channels has \(found)")
    }
  }

  private mutating func decodeChannel(_ channel: JSONValue) {
    guard expect(.object, channel, "an entry of Channels") else { return }
    var parameters: JSONValue?
    var pattern: JSONValue?
    for member in channel.members {
      switch RichTapKey(of: member) {
      case .parameters: parameters = member
      case .pattern: pattern = member
      default: continue
      }
    }
    var group = RichTapDocument.Group()
    if let parameters = object(parameters, .parameters, of: channel) {
      var index: JSONValue?
      for member in parameters.members where RichTapKey(of: member) == .index { index = member }
      if let number = integer(index, .index, of: parameters), let index { group.vibrator = vibrator(number, at: index) }
    }
    guard let pattern = array(pattern, .pattern, of: channel) else { return }
    decodeGroup(group, pattern)
  }

  // MARK: Groups

  private mutating func decodeGroup(_ group: RichTapDocument.Group, _ pattern: JSONValue) {
    var group = group
    var values: [Int] = []
    var count = 0
    var previous = 0
    for entry in pattern.elements {
      count += 1
      guard expect(.object, entry, "an entry of Pattern") else { continue }
      guard let (value, event) = decodeEntry(entry) else { continue }
      if dialect == .he, event.time < previous {
        log.add(rules.time, at: value, "RelativeTime is \(event.time), before the \(previous) of the event before")
      }
      previous = max(previous, event.time)
      group.events.append(event)
      values.append(value.index)
    }
    if count > dialect.maximumEventCount {
      log.add(
        rules.eventCount, at: pattern,
        "Pattern has \(count) events; HarmonyOS refuses more than \(dialect.maximumEventCount)")
    } else if count == 0, dialect == .he {
      log.add(rules.eventCount, at: pattern, severity: .error, "Pattern is empty")
    }
    document.groups.append(group)
    eventValues.append(values)
  }

  private mutating func decodeEntry(_ entry: JSONValue) -> (value: JSONValue, event: RichTapDocument.Event)? {
    var event: JSONValue?
    var hasType = false
    for member in entry.members {
      switch RichTapKey(of: member) {
      case .event: event = member
      case .type: hasType = true
      default: continue
      }
    }
    if event == nil, hasType {
      unwrappedEvents = (unwrappedEvents?.first ?? entry.index, (unwrappedEvents?.count ?? 0) + 1)
      event = entry
    }
    guard let event = object(event, .event, of: entry) else { return nil }
    return decodeEvent(event).map { (event, $0) }
  }

  private mutating func noteConverter() {
    if let unwrappedEvents {
      let count = unwrappedEvents.count
      log.add(
        rules.noEventWrapper, at: JSONValue(document: json, index: unwrappedEvents.first),
        (count == 1 ? "an event is" : "\(count) events are") + " not held by the key \"Event\"",
        hint: "write {\"Event\": {…}}")
    }
    if let percentCurve {
      log.add(
        rules.percentCurve, at: percentCurve, "intensities of curves are read as percent, since one is greater than 1",
        hint: "divide all intensities of curves by 100")
    }
  }

  // MARK: Events

  private mutating func decodeEvent(_ value: JSONValue) -> RichTapDocument.Event? {
    var type: JSONValue?
    var start: JSONValue?
    var length: JSONValue?
    var index: JSONValue?
    var parameters: JSONValue?
    for member in value.members {
      switch (RichTapKey(of: member), dialect) {
      case (.type?, _): type = member
      case (.relativeTime?, .he), (.startTime?, .oh): start = member
      case (.duration?, _): length = member
      case (.index?, .he): index = member
      case (.parameters?, _): parameters = member
      default: continue
      }
    }
    guard let isTransient = isTransient(type, of: value) else { return nil }
    let time = integer(start, dialect == .he ? .relativeTime : .startTime, of: value, in: dialect.times, rules.time)
    var event = RichTapDocument.Event(isTransient: isTransient, time: time ?? 0, intensity: 0, frequency: 0)
    if !isTransient {
      event.duration = integer(length, .duration, of: value, in: dialect.durations, rules.duration) ?? 0
    }
    if let index, let number = integer(index, .index, of: value) { event.vibrator = vibrator(number, at: index) }
    guard let parameters = object(parameters, .parameters, of: value) else { return nil }
    decodeParameters(parameters, of: &event)
    return event
  }

  private mutating func decodeParameters(_ parameters: JSONValue, of event: inout RichTapDocument.Event) {
    var intensity: JSONValue?
    var frequency: JSONValue?
    var curve: JSONValue?
    for member in parameters.members {
      switch RichTapKey(of: member) {
      case .intensity: intensity = member
      case .frequency: frequency = member
      case .curve: curve = member
      default: continue
      }
    }
    event.intensity =
      integer(intensity, .intensity, of: parameters, in: RichTapDialect.intensities, rules.intensity) ?? 0
    event.frequency =
      integer(
        frequency, .frequency, of: parameters, in: dialect.frequencies(isTransient: event.isTransient), rules.frequency)
      ?? 0
    guard !event.isTransient else { return }
    if let curve {
      if expect(.array, curve, "Curve") { decodeCurve(curve, of: &event) }
    } else if dialect == .he {
      log.add(rules.curveRequired, at: parameters, "a continuous event must have the key \"Curve\"")
    }
  }

  private mutating func decodeCurve(_ curve: JSONValue, of event: inout RichTapDocument.Event) {
    var count = 0
    for point in curve.elements {
      count += 1
      guard expect(.object, point, "a point of Curve") else { continue }
      decodePoint(point, of: &event)
    }
    if !RichTapDialect.curvePointCounts.contains(count) {
      log.add(rules.curvePointCount, at: curve, "Curve has \(count) points, not 4 to 16")
    }
    switch dialect {
    case .oh: event.curve = event.curve.sortedByTime
    case .he:
      guard let first = event.curve.first, let last = event.curve.last, event.duration > 0,
        first.time != 0 || first.gain != 0 || last.time != event.duration || last.gain != 0
      else { return }
      log.add(
        rules.curveEnds, at: curve, severity: isOfConverter ? .warning : .error,
        "Curve goes from Intensity \(first.gain) at \(first.time) to \(last.gain) at \(last.time); "
          + "must go from 0 at 0 to 0 at \(event.duration)")
    }
  }

  private mutating func decodePoint(_ point: JSONValue, of event: inout RichTapDocument.Event) {
    var when: JSONValue?
    var intensity: JSONValue?
    var frequency: JSONValue?
    for member in point.members {
      switch RichTapKey(of: member) {
      case .time: when = member
      case .intensity: intensity = member
      case .frequency: frequency = member
      default: continue
      }
    }
    let end = max(event.duration, 0)
    let time = integer(when, .time, of: point, in: 0...end, rules.curveOrder)
    if dialect == .he, let time, let when, let last = event.curve.last, time <= last.time {
      log.add(rules.curveOrder, at: when, "Time is \(time), not after the \(last.time) of the point before")
    }
    let gain = gain(intensity, of: point)
    let offset = integer(frequency, .frequency, of: point, in: RichTapDialect.offsets, rules.curveRange)
    event.curve.append(.init(time: time ?? 0, gain: gain ?? 0, offset: offset ?? 0))
  }

  /// The factor of a point; the decoder drops what is beyond hundredths before it checks the range.
  private mutating func gain(_ value: JSONValue?, of point: JSONValue) -> Float? {
    guard var number = number(value, .intensity, of: point), let value else { return nil }
    if usesPercent { number /= 100 }
    if !usesPercent, number >= 1.01 {
      percentCurve = percentCurve ?? value
    } else if !(-0.01 < number && number < 1.01) {
      let text = Self.lexeme(value)
      let most = usesPercent ? 100 : 1
      log.add(rules.curveRange, at: value, "Intensity is \(text), outside 0 to \(most)")
    } else if usesPercent, percentCurve == nil, number > 0.01 {
      percentCurve = value
    }
    return Float(min(max(number, 0), 1))
  }
}

extension [RichTapDocument.CurvePoint] {
  /// The points by time; those of one time keep their order.
  fileprivate var sortedByTime: Self { indices.sorted { (self[$0].time, $0) < (self[$1].time, $1) }.map { self[$0] } }
}
