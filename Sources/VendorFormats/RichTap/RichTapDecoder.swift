internal import HapticFormats
internal import Reading

/// Reads a text in one of the two spellings by its tables, and notes what it finds.
struct RichTapDecoder: JSONFieldReader {
  /// Whole factors of curves have no point.
  static let writesShortNumbers = true

  let json: JSONDocument
  let dialect: RichTapDialect
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
  /// The time of the pattern before, and the duration of the event whose curve is read.
  fileprivate var previous = -1
  fileprivate var duration = 0

  let rules = JSONFieldRules(
    missingKey: .heMissingKey, expectedKey: .ohPartialKeys, wrongType: .wrongType, outOfRange: .heStructure,
    fraction: .dropped(.heFraction))

  init(_ json: JSONDocument, dialect: RichTapDialect) {
    self.json = json
    self.dialect = dialect
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
      return log.add(.heStructure, at: root, "the file must be an object, not \(root.kind.noun)")
    }
    if json.text.count > dialect.maximumFileSize {
      log.add(
        .ohFileSize, at: root, offset: 0,
        "the file has \(json.text.count) bytes; HarmonyOS refuses more than \(dialect.maximumFileSize)")
    }
    var read = RichTapDocument()
    RichTapTables.of(dialect).file.read(root, into: &read, &self)
    document = read
    if let unwrappedEvents {
      let count = unwrappedEvents.count
      log.add(
        .heNoEventWrapper, at: JSONValue(document: json, index: unwrappedEvents.first),
        (count == 1 ? "an event is" : "\(count) events are") + " not held by the key \"Event\"",
        hint: "write {\"Event\": {…}}")
    }
    if let percentCurve {
      log.add(
        .hePercentCurve, at: percentCurve, "intensities of curves are read as percent, since one is greater than 1",
        hint: "divide all intensities of curves by 100")
    }
  }

  /// Reads the events of a pattern.
  fileprivate mutating func read(_ pattern: JSONValue, into group: inout RichTapDocument.Group) {
    let tables = RichTapTables.of(dialect)
    var values: [Int] = []
    var count = 0
    var previous = 0
    for entry in pattern.elements {
      count += 1
      guard expect(.object, entry, as: tables.entry.noun) else { continue }
      let members = tables.entry.names.fields(of: entry)
      var value = members[0]
      if value == nil, members[1] != nil {
        unwrappedEvents = (unwrappedEvents?.first ?? entry.index, (unwrappedEvents?.count ?? 0) + 1)
        value = entry
      }
      guard let value else {
        noteMissing(tables.entry.keys[0], isRequired: true, of: entry, tables.entry)
        continue
      }
      var event = RichTapDocument.Event(isTransient: true, time: 0, intensity: 0, frequency: 50)
      guard tables.event.read(value, into: &event, &self) else { continue }
      if dialect == .he, event.time < previous {
        log.add(.heTime, at: value, "RelativeTime is \(event.time), before the \(previous) of the event before")
      }
      previous = max(previous, event.time)
      group.events.append(event)
      values.append(value.index)
    }
    if count > dialect.maximumEventCount {
      log.add(
        dialect == .he ? .heEventCount : .ohEventCount, at: pattern,
        "Pattern has \(count) events; HarmonyOS refuses more than \(dialect.maximumEventCount)")
    } else if count == 0, dialect == .he {
      log.add(.heEventCount, at: pattern, severity: .error, "Pattern is empty")
    }
    eventValues.append(values)
  }

  /// Reads the points of an event's curve.
  fileprivate mutating func read(curve: JSONValue, of event: inout RichTapDocument.Event) {
    duration = max(event.duration, 0)
    let errors = log.errorCount
    var count = 0
    for value in curve.elements {
      count += 1
      var point = RichTapDocument.CurvePoint(time: 0, gain: 1, offset: 0)
      guard RichTapTables.of(dialect).point.read(value, into: &point, &self) else { continue }
      if dialect == .he, let last = event.curve.last, point.time <= last.time {
        log.add(
          .heCurveTime, at: value["Time"] ?? value,
          "Time is \(point.time), not after the \(last.time) of the point before")
      }
      event.curve.append(point)
    }
    if !RichTapDialect.curvePointCounts.contains(count) {
      log.add(.heCurvePointCount, at: curve, "Curve has \(count) points, not 4 to 16")
    }
    guard dialect == .he else {
      // Those of one time keep their order.
      let points = event.curve
      event.curve = points.indices.sorted { (points[$0].time, $0) < (points[$1].time, $1) }.map { points[$0] }
      return
    }
    guard let first = event.curve.first, let last = event.curve.last, duration > 0, errors == log.errorCount,
      first.time != 0 || first.gain != 0 || last.time != duration || last.gain != 0
    else { return }
    log.add(
      .heCurveEnds, at: curve, severity: isOfConverter ? .warning : .error,
      "Curve goes from Intensity \(first.gain) at \(first.time) to \(last.gain) at \(last.time); "
        + "must go from 0 at 0 to 0 at \(duration)")
  }

  /// The factor of a point; the decoder drops what is beyond hundredths before it checks the range.
  fileprivate mutating func gain(_ value: JSONValue, _ key: JSONKey) -> Float? {
    guard var number: Double = scalar(value, key) else { return nil }
    if usesPercent { number /= 100 }
    if !usesPercent, number >= 1.01 {
      percentCurve = percentCurve ?? value
    } else if !(-0.01 < number && number < 1.01) {
      log.add(.heCurveRange, at: value, "Intensity is \(value.shortLexeme), outside 0 to \(usesPercent ? 100 : 1)")
    } else if usesPercent, percentCurve == nil, number > 0.01 {
      percentCurve = value
    }
    return Float(min(max(number, 0), 1))
  }

  // MARK: - The text as a whole

  mutating func checkText() {
    log.addDeviations(
      of: json, byteOrderMark: .heByteOrderMark, trailingComma: .heTrailingComma, duplicateKey: .heDuplicateKey)
    if log.errorCount == 0 { checkOverlaps() }
  }

  private mutating func checkOverlaps() {
    var events: [(event: RichTapDocument.Event, value: Int)] = []
    for (group, values) in zip(document.groups, eventValues) {
      events += zip(group.absoluteEvents, values).map { (event: $0, value: $1) }
    }
    events.sort { ($0.event.time, $0.value) < ($1.event.time, $1.value) }
    // When each vibrator is free again.
    var left = 0
    var right = 0
    var found: (value: Int, count: Int)?
    for (event, value) in events {
      let usesLeft = event.vibrator != .right
      let usesRight = event.vibrator != .left
      if usesLeft && event.time < left || usesRight && event.time < right {
        found = (found?.value ?? value, (found?.count ?? 0) + 1)
      }
      let end = event.time + (event.isTransient ? RichTapDialect.transientLength : event.duration)
      if usesLeft { left = max(left, end) }
      if usesRight { right = max(right, end) }
    }
    guard let found else { return }
    let count = found.count
    log.add(
      .heOverlap, at: JSONValue(document: json, index: found.value),
      (count == 1 ? "an event begins" : "\(count) events begin")
        + " while another plays on the same vibrator; both sound, but hardware may play one")
  }
}

/// The keys of one spelling: a row for each, which reads, checks, orders and writes it.
struct RichTapTables: Sendable {
  typealias Table<Owner> = JSONTable<Owner, RichTapDecoder>
  private typealias Field<Owner> = JSONField<Owner, RichTapDecoder>
  private typealias Event = RichTapDocument.Event
  private typealias Group = RichTapDocument.Group

  private static let he = RichTapTables(.he)
  private static let oh = RichTapTables(.oh)

  let file: Table<RichTapDocument>
  let event: Table<RichTapDocument.Event>
  let point: Table<RichTapDocument.CurvePoint>
  /// An entry of `Pattern`: `Event`, or the keys of an event as OpenHarmony's converter writes them.
  let entry: JSONShape

  static func of(_ dialect: RichTapDialect) -> RichTapTables { dialect == .he ? he : oh }

  private init(_ dialect: RichTapDialect) {
    let isHE = dialect == .he
    let point = Self.point(dialect)
    let event = Self.event(dialect, point)
    let entry = JSONShape("an entry of Pattern", [JSONKey("Event", .object { event.shape })] + event.shape.keys)
    func pattern<Owner>(_ place: @escaping Field<Owner>.Place<Group>) -> Field<Owner> {
      Field(JSONKey("Pattern", .list(.object { entry }), is: .required)) { value, owner, reader in
        guard reader.expect(.array, value, as: "Pattern") else { return false }
        place(&owner) { reader.read(value, into: &$0) }
        return true
      } write: { owner, _, object in
        var owner = owner
        place(&owner) { group in
          let events = group.events
          object.array("Pattern") { list in
            for one in events { list.object { $0.object("Event") { event.write(one, to: &$0) } } }
          }
        }
      }
    }
    self.point = point
    self.event = event
    self.entry = entry
    let metadata = Self.metadata(dialect)
    if isHE {
      let list = Table<Group>(
        "an entry of PatternList",
        [
          .value("AbsoluteTime", .integer(0...Int(Int32.max)), is: .required, rule: .heAbsoluteTime) {
            $1(&$0.time)
          }, pattern { $1(&$0) },
        ]
      ) { object, group, reader in
        if group.time <= reader.previous, let value = object["AbsoluteTime"], reader.previous >= 0 {
          reader.log.add(
            .heAbsoluteTime, at: value,
            "AbsoluteTime is \(group.time), not after the \(reader.previous) of the pattern before")
        }
        reader.previous = max(reader.previous, group.time)
        return true
      }
      file = Table(
        "the file",
        [
          .group("Metadata", metadata),
          pattern { document, body in
            if document.groups.isEmpty { document.groups = [Group()] }
            body(&document.groups[0])
          }.only { $0.version == 1 },
          .list("PatternList", of: list, new: Group(), is: .required) { $1(&$0.groups) }.only { $0.version == 2 },
        ]
      ) { object, document, reader in
        if document.version == 2, let list = object["PatternList"], list.kind == .array, list.elements.isEmpty {
          reader.log.add(.heStructure, at: list, "PatternList is empty")
        }
        return true
      }
    } else {
      let parameters = Table<Group>("Parameters", [Self.index(is: .required) { $1(&$0.vibrator) }])
      let channel = Table<Group>(
        "an entry of Channels", [.group("Parameters", parameters, layout: .line), pattern { $1(&$0) }])
      file = Table(
        "the file",
        [
          .group("MetaData", metadata),
          .list("Channels", of: channel, new: Group(), is: .required) { $1(&$0.groups) },
        ]
      ) { object, document, reader in
        guard let value = object["MetaData"]?["ChannelNumber"], let list = object["Channels"], list.kind == .array,
          document.channelCount > 0
        else { return true }
        let found = list.elements.reduce(0) { count, _ in count + 1 }
        if document.channelCount != found {
          reader.log.add(
            .ohChannelCount, at: value, "ChannelNumber is \(document.channelCount); Channels has \(found)")
        }
        return true
      }
    }
  }

  private static func metadata(_ dialect: RichTapDialect) -> Table<RichTapDocument> {
    let version = JSONKey("Version", .anyNumber, is: .required)
    // Values of other kinds are ignored.
    func text(_ name: String, _ place: @escaping Field<RichTapDocument>.Place<String?>) -> Field<RichTapDocument> {
      Field(JSONKey(name, .text())) { value, document, _ in
        place(&document) { $0 = value.string }
        return true
      } write: { document, _, object in
        var document = document
        place(&document) { if let text = $0 { object.member(name, text) } }
      }
    }
    var rows: [Field<RichTapDocument>] = [
      Field(version) { value, document, reader in
        guard let number: Double = reader.scalar(value, version) else { return false }
        let known = dialect == .he ? [1.0, 2] : [1]
        if known.contains(dialect == .he ? number.rounded(.towardZero) : number) {
          document.version = Int(number)
          reader.details.append(("version", dialect == .he ? "\(Int(number))" : value.shortLexeme))
        } else {
          reader.log.add(
            .heVersion, at: value,
            "Version is \(value.shortLexeme), not \(dialect == .he ? "1 or 2" : "1.0")")
        }
        return true
      } write: { document, _, object in
        if dialect == .he { object.member("Version", document.version) } else { object.member("Version", 1.0) }
      }
    ]
    if dialect == .oh {
      rows.append(
        .value("ChannelNumber", .integer(1...2), is: .required, rule: .ohChannelNumber) { $1(&$0.channelCount) })
    }
    rows += [
      text("Created") { $1(&$0.created) }, text("Create") { $1(&$0.created) }, text("Description") { $1(&$0.notes) },
    ]
    return Table(dialect == .he ? "Metadata" : "MetaData", rows)
  }

  private static func event(
    _ dialect: RichTapDialect, _ point: Table<RichTapDocument.CurvePoint>
  ) -> Table<RichTapDocument.Event> {
    let types = JSONNames(["transient", "continuous"])
    let type = JSONKey("Type", .word(types.names), is: .required, noun: "event type", rule: .heEventType)
    let frequency = JSONKey(
      "Frequency", .integer(dialect.frequencies(isTransient: true)), is: dialect == .he ? .required : .expected,
      rule: .heFrequency)
    let parameters = Table<Event>(
      "Parameters",
      [
        .value("Intensity", .integer(RichTapDialect.intensities), is: .required, rule: .heIntensity) {
          $1(&$0.intensity)
        },
        Field(frequency) { value, event, reader in
          var key = frequency
          key.type = .integer(dialect.frequencies(isTransient: event.isTransient))
          guard let number: Int = reader.scalar(value, key) else { return false }
          event.frequency = number
          return true
        } write: { event, _, object in
          object.member("Frequency", event.frequency)
        },
        Field(JSONKey("Curve", .list(.object { point.shape }), layout: .line)) { value, event, reader in
          guard reader.expect(.array, value, as: "Curve") else { return false }
          reader.read(curve: value, of: &event)
          return true
        } write: { event, _, object in
          if event.curve.isEmpty { return }
          point.write(event.curve, as: "Curve", layout: .line, to: &object)
        }.only { !$0.isTransient },
      ]
    ) { object, event, reader in
      if dialect == .he, !event.isTransient, object["Curve"] == nil {
        reader.log.add(.heCurveRequired, at: object, "a continuous event must have the key \"Curve\"")
      }
      guard !event.isTransient, object["Frequency"] == nil else { return true }
      // Of a transient it is expected alone.
      if dialect == .oh { reader.noteMissing(frequency, isRequired: true, of: object, JSONShape("Parameters", [])) }
      return false
    }
    let time: Field<Event> = .value(
      dialect == .he ? "RelativeTime" : "StartTime", .integer(dialect.times), is: .required,
      rule: dialect == .he ? .heTime : .ohTime
    ) { $1(&$0.time) }
    return Table(
      "Event",
      [
        Field(type) { value, event, reader in
          guard let index = reader.word(value, types, type) else { return false }
          event.isTransient = index == 0
          return true
        } write: { event, _, object in
          object.member("Type", types.names[event.isTransient ? 0 : 1])
        }, time,
        .value("Duration", .integer(dialect.durations), is: .required, rule: .heDuration) { $1(&$0.duration) }.only {
          !$0.isTransient
        },
      ] + (dialect == .he ? [index(is: .written) { $1(&$0.vibrator) }] : [])
        + [.group("Parameters", parameters)])
  }

  private static func index<Owner>(
    is presence: JSONKey.Presence, _ place: @escaping Field<Owner>.Place<RichTapDocument.Vibrator>
  ) -> JSONField<Owner, RichTapDecoder> {
    let key = JSONKey("Index", .integer(0...2), is: presence, rule: .heIndex)
    return JSONField(key) { value, owner, reader in
      guard let number: Int = reader.scalar(value, key) else { return false }
      place(&owner) { $0 = RichTapDocument.Vibrator(index: number) ?? .both }
      return true
    } write: { owner, _, object in
      var owner = owner
      place(&owner) { object.member("Index", $0.index) }
    }
  }

  private static func point(_ dialect: RichTapDialect) -> Table<RichTapDocument.CurvePoint> {
    let presence = dialect == .he ? JSONKey.Presence.required : .expected
    let time = JSONKey("Time", .anyNumber, is: .required, rule: .heCurveTime)
    let gain = JSONKey("Intensity", .anyNumber, is: presence)
    return Table(
      "a point of Curve",
      [
        Field(time) { value, point, reader in
          var key = time
          key.type = .integer(0...reader.duration)
          guard let number: Int = reader.scalar(value, key) else { return false }
          point.time = number
          return true
        } write: { point, _, object in
          object.member("Time", point.time)
        },
        Field(gain) { value, point, reader in
          guard let factor = reader.gain(value, gain) else { return false }
          point.gain = factor
          return true
        } write: { point, _, object in
          point.gain.write("Intensity", isShort: true, to: &object)
        },
        .value("Frequency", .integer(RichTapDialect.offsets), is: presence, rule: .heCurveRange) {
          $1(&$0.offset)
        },
      ]
    ) { object, _, reader in
      guard dialect == .oh, object["Intensity"] == nil, object["Frequency"] == nil else { return true }
      reader.log.add(.heMissingKey, at: object, "a point of Curve must have the key \"Intensity\" or \"Frequency\"")
      return false
    }
  }
}
