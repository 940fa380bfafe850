public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// RichTap haptic effects, versions 1 and 2: a JSON text that is checked against the limits of
  /// the HarmonyOS decoder.
  ///
  /// Events without curves become one layer, and events with curves as few layers as possible.
  /// Events for one of two vibrators go to layers named `left` and `right`. Times are written in
  /// whole milliseconds, and values in whole percent.
  public static let he = richTap(
    .he, id: "he", title: "RichTap HE", endings: ["he"], dialects: ["2", "1"]
  ) { outline in
    guard outline.hasRootKey("Metadata") else { return false }
    // AHAP has the same root keys.
    return outline.hasRootKey("PatternList")
      || outline.hasRootKey("Pattern") && outline.nestedKeys.contains("Type")
        && !outline.nestedKeys.contains("EventType")
  }

  /// The haptic files of HarmonyOS and OpenHarmony: a JSON text.
  ///
  /// They become the same layers as ``he``. Files whose names don't end in `oh.json` are recognized
  /// by their content.
  public static let oh = richTap(
    .oh, id: "oh", title: "HarmonyOS haptic JSON", endings: ["oh.json"]
  ) {
    $0.hasRootKey("Channels") && $0.hasRootKey("MetaData")
  }

  private static func richTap(
    _ dialect: RichTapDialect, id: String, title: String, endings: [String],
    dialects: [String] = [],
    matches isMarked: @escaping @Sendable (JSONOutline) -> Bool
  ) -> HapticFormat {
    json(
      id, title: title, endings: endings, rules: dialect.rules, dialects: dialects,
      matches: isMarked,
      read: { json, options in
        var decoder = RichTapDecoder.decode(json, dialect: dialect)
        if options.wantsFindings {
          decoder.checkWholeText()
        }
        var details = decoder.details
        if let created = decoder.document.creationText {
          details.append(("created", created))
        }
        let made = RichTapComposition(
          decoder.log.errorCount == 0 ? decoder.document : RichTapDocument())
        let places = [[Int]](
          decoder.eventValueIndices.flatMap { $0 }, at: made.references.flatMap { $0 })
        return ReadResult(
          made.composition, of: json, log: decoder.log, options: options, losses: made.losses,
          sourceMap: SourceMap(events: places) { json.location(ofValue: $0) }, details: details)
      },
      write: { (composition, options) throws(InputError) in
        try composition.checkFinite(.heIntensity)
        var losses = LossLog()
        let played = composition.unrolled(passCount: options.loopCount, losses: &losses)
        var builder = RichTapBuilder(
          played, dialect: dialect, tolerance: options.tolerance, losses: losses)
        if composition.title != nil, composition.notes != nil {
          builder.losses.add(.dropped, .composition, "the title cannot be written beside the notes")
        }
        let notes = composition.notes ?? composition.title
        let bytes =
          switch dialect {
          case .oh: builder.channelsText(notes: notes)
          case .he where options.dialect == "1": builder.singlePatternText(notes: notes)
          case .he: builder.patternListText(notes: notes)
          }
        return WrittenFiles([WrittenFiles.File(bytes)], losses: builder.losses.finish())
      }, shape: { RichTapSchema.schema(of: dialect).file.schema })
  }
}

/// The common content of a RichTap HE file and a HarmonyOS haptic file: groups of events, in whole
/// milliseconds and percent.
struct RichTapDocument: Equatable, Sendable {
  /// Events with times relative to a common start: a pattern of HE, or a channel of HarmonyOS.
  struct Group: Equatable, Sendable {
    /// The start of the group, in milliseconds from the start of the file; 0 for a channel.
    var time = 0
    /// The vibrator of a channel. Patterns of HE name a vibrator with each event.
    var vibrator = Vibrator.both
    var events: [Event] = []

    /// The events with times from the start of the file, and with their vibrator.
    var absoluteEvents: [Event] {
      events.map { event in
        var event = event
        event.time += time
        if vibrator != .both {
          event.vibrator = vibrator
        }
        return event
      }
    }
  }

  /// A vibration.
  struct Event: Equatable, Sendable {
    enum Kind: String, JSONEnumeration { case transient, continuous }

    var kind: Kind
    /// The start of the event, in milliseconds from the start of the group.
    var time: Int
    /// The duration in milliseconds; ignored for a transient.
    var duration = 0
    var vibrator = Vibrator.both
    /// The intensity in percent, 0…100.
    var intensity: Int
    /// The frequency, from dull (0) to sharp (100). A transient of HE may have −50…150.
    var frequency: Int
    /// The curve of a continuous event; empty for a constant event.
    var curve: [CurvePoint] = []

    var isTransient: Bool { kind == .transient }
  }

  struct CurvePoint: Equatable, Sendable {
    /// The time from the start of the event, in milliseconds.
    var time: Int
    /// The factor on the intensity of the event, 0…1.
    var gain: Float
    /// The offset that is added to the frequency of the event, −100…100.
    var frequencyOffset: Int
  }

  /// The vibrator that plays, in the order of its `Index`. The raw value is the name of its layers.
  enum Vibrator: String, CaseIterable, Sendable {
    case both = ""
    case left
    case right

    var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// The body location of the vibrator's layers; nil for both vibrators.
    var bodyLocation: HapticComposition.BodyLocation? {
      self == .both ? nil : .init(number, of: 2, name: rawValue)
    }

    /// Creates a vibrator from its `Index` in files, or returns nil for an unknown index.
    init?(number index: Int) {
      guard Self.allCases.indices.contains(index) else { return nil }
      self = Self.allCases[index]
    }
  }

  /// The version of HE, 1 for a single pattern and 2 for a list of patterns; 0 if unknown.
  var version = 0
  var channelCount = 0
  /// The date or the author's name, as in the file.
  var creationText: String?
  var notes: String?
  var groups: [Group] = []

}

/// The two notations of a ``RichTapDocument``, with the limits of their decoders.
///
/// Source of the limits: the decoders of HarmonyOS, which plays both
/// (openharmony/sensors_miscdevice, 9394f74, utils/haptic_decoder).
enum RichTapDialect: Sendable {
  case he, oh

  var maximumEventCount: Int { self == .he ? 16 : 128 }
  /// The range of event starts, in milliseconds.
  var timeRange: ClosedRange<Int> { self == .he ? 0...Int(Int32.max) : 0...1_800_000 }
  /// The range of durations of a continuous event, in milliseconds.
  var durationRange: ClosedRange<Int> { (self == .he ? 1 : 0)...5_000 }
  static let curvePointCountRange = 4...16
  /// The maximum file size, in bytes.
  var maximumFileSize: Int { self == .he ? .max : 64 * 1024 }
  static let intensityRange = 0...100
  static let frequencyOffsetRange = -100...100

  func frequencyRange(isTransient: Bool) -> ClosedRange<Int> {
    self == .he && isTransient ? -50...150 : 0...100
  }

  /// The duration of a transient, in milliseconds.
  static let transientMilliseconds = 48

  /// The length of the ramps that HE requires at the ends of an event, in milliseconds.
  static let rampMilliseconds = 1

  /// Returns the curve that HE requires for an event of constant intensity.
  static func constantCurve(duration: Int) -> [RichTapDocument.CurvePoint] {
    [
      .init(time: 0, gain: 0, frequencyOffset: 0),
      .init(time: rampMilliseconds, gain: 1, frequencyOffset: 0),
      .init(time: duration - rampMilliseconds, gain: 1, frequencyOffset: 0),
      .init(time: duration, gain: 0, frequencyOffset: 0),
    ]
  }
}

struct RichTapDecoder: JSONSchemaReader {
  /// Factors of curves that are whole numbers are written without a decimal point.
  static let writesShortNumbers = true

  let json: JSONDocument
  let dialect: RichTapDialect
  var log = FindingLog()
  var document = RichTapDocument()
  /// The indices of the JSON values that the events were read from, by group.
  var eventValueIndices: [[Int]] = []
  var details: [(name: String, value: String)] = []
  /// A Boolean value that indicates whether the file was written by OpenHarmony's converter, for
  /// which some rules are only warnings.
  private var isFromConverter = false
  /// A Boolean value that indicates whether the intensities of curves are in percent.
  private var usesPercentCurves = false
  private var unwrappedEvents: (first: Int, count: Int)?
  private var percentCurveValue: JSONValue?
  /// The start of the preceding pattern, in milliseconds.
  fileprivate var previousPatternTime = -1
  fileprivate var currentEventDuration = 0

  let rules = JSONSchemaRules(
    missingKey: .heMissingKey, recommendedKey: .ohPartialKeys, wrongType: .wrongType,
    outOfRange: .heStructure,
    fractionHandling: .truncated(.heFraction))

  init(_ json: JSONDocument, dialect: RichTapDialect) {
    self.json = json
    self.dialect = dialect
  }

  static func decode(_ json: JSONDocument, dialect: RichTapDialect) -> RichTapDecoder {
    var strict = RichTapDecoder(json, dialect: dialect)
    strict.decode()
    guard strict.unwrappedEvents != nil || strict.percentCurveValue != nil else { return strict }
    var lenient = RichTapDecoder(json, dialect: dialect)
    lenient.isFromConverter = true
    lenient.usesPercentCurves = strict.percentCurveValue != nil
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
        """
        the file has \(json.text.count) bytes; HarmonyOS refuses more than \
        \(dialect.maximumFileSize)
        """
      )
    }
    var read = RichTapDocument()
    RichTapSchema.schema(of: dialect).file.read(root, into: &read, reader: &self)
    document = read
    if let unwrappedEvents {
      let count = unwrappedEvents.count
      log.add(
        .heNoEventWrapper, at: JSONValue(document: json, index: unwrappedEvents.first),
        (count == 1 ? "an event is" : "\(count) events are") + " not held by the key \"Event\"",
        suggestion: "write {\"Event\": {…}}")
    }
    if let percentCurveValue {
      log.add(
        .hePercentCurve, at: percentCurveValue,
        "intensities of curves are read as percent, since one is greater than 1",
        suggestion: "divide all intensities of curves by 100")
    }
  }

  fileprivate mutating func readEvents(
    of pattern: JSONValue, into group: inout RichTapDocument.Group
  ) {
    let tables = RichTapSchema.schema(of: dialect)
    var values: [Int] = []
    var count = 0
    var previous = 0
    for entry in pattern.elements {
      count += 1
      guard expectKind(.object, of: entry, as: tables.patternEntry.noun) else { continue }
      let members = tables.patternEntry.names.indexedMembers(of: entry)
      var value = members[0]
      if value == nil, members[1] != nil {
        unwrappedEvents = (unwrappedEvents?.first ?? entry.index, (unwrappedEvents?.count ?? 0) + 1)
        value = entry
      }
      guard let value else {
        reportMissing(
          tables.patternEntry.keys[0], isRequired: true, of: entry, schema: tables.patternEntry)
        continue
      }
      var event = RichTapDocument.Event(kind: .transient, time: 0, intensity: 0, frequency: 50)
      guard tables.event.read(value, into: &event, reader: &self) else { continue }
      if dialect == .he, event.time < previous {
        log.add(
          .heRelativeTime, at: value,
          "RelativeTime is \(event.time), before the \(previous) of the event before")
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
    eventValueIndices.append(values)
  }

  fileprivate mutating func readCurve(_ curve: JSONValue, into event: inout RichTapDocument.Event) {
    currentEventDuration = max(event.duration, 0)
    let errors = log.errorCount
    var count = 0
    for value in curve.elements {
      count += 1
      var point = RichTapDocument.CurvePoint(time: 0, gain: 1, frequencyOffset: 0)
      guard RichTapSchema.schema(of: dialect).curvePoint.read(value, into: &point, reader: &self)
      else { continue }
      if dialect == .he, let last = event.curve.last, point.time <= last.time {
        log.add(
          .heCurveTime, at: value["Time"] ?? value,
          "Time is \(point.time), not after the \(last.time) of the point before")
      }
      event.curve.append(point)
    }
    if !RichTapDialect.curvePointCountRange.contains(count) {
      log.add(.heCurvePointCount, at: curve, "Curve has \(count) points, not 4 to 16")
    }
    guard dialect == .he else {
      // Points with equal times keep their order.
      let points = event.curve
      event.curve = points.indices.sorted { (points[$0].time, $0) < (points[$1].time, $1) }.map {
        points[$0]
      }
      return
    }
    guard let first = event.curve.first, let last = event.curve.last, currentEventDuration > 0,
      errors == log.errorCount,
      first.time != 0 || first.gain != 0 || last.time != currentEventDuration || last.gain != 0
    else { return }
    log.add(
      .heCurveEnds, at: curve, severity: isFromConverter ? .warning : .error,
      "Curve goes from Intensity \(first.gain) at \(first.time) to \(last.gain) at \(last.time); "
        + "must go from 0 at 0 to 0 at \(currentEventDuration)")
  }

  /// Returns the gain of a curve point. The decoder of HarmonyOS truncates to hundredths before it
  /// checks the range.
  fileprivate mutating func curveGain(_ value: JSONValue, key: JSONKey) -> Float? {
    guard var number: Double = readScalar(value, key: key) else { return nil }
    if usesPercentCurves {
      number /= 100
    }
    if !usesPercentCurves, number >= 1.01 {
      percentCurveValue = percentCurveValue ?? value
    } else if !(-0.01 < number && number < 1.01) {
      log.add(
        .heCurveRange, at: value,
        "Intensity is \(value.truncatedLexeme), outside 0 to \(usesPercentCurves ? 100 : 1)")
    } else if usesPercentCurves, percentCurveValue == nil, number > 0.01 {
      percentCurveValue = value
    }
    return Float(min(max(number, 0), 1))
  }

  // MARK: - The text as a whole

  mutating func checkWholeText() {
    log.addDeviations(
      of: json, byteOrderMark: .heByteOrderMark, trailingComma: .heTrailingComma,
      duplicateKey: .heDuplicateKey)
    if log.errorCount == 0 {
      checkOverlaps()
    }
  }

  private mutating func checkOverlaps() {
    var events: [(event: RichTapDocument.Event, value: Int)] = []
    for (group, values) in zip(document.groups, eventValueIndices) {
      events += zip(group.absoluteEvents, values).map { (event: $0, value: $1) }
    }
    events.sort { ($0.event.time, $0.value) < ($1.event.time, $1.value) }
    // The times at which the left and the right vibrator become free.
    var free = [0, 0]
    var found: (value: Int, count: Int)?
    for (event, value) in events {
      let used = event.vibrator == .left ? 0...0 : event.vibrator == .right ? 1...1 : 0...1
      if used.contains(where: { event.time < free[$0] }) {
        found = (found?.value ?? value, (found?.count ?? 0) + 1)
      }
      let end =
        event.time + (event.isTransient ? RichTapDialect.transientMilliseconds : event.duration)
      for vibrator in used {
        free[vibrator] = max(free[vibrator], end)
      }
    }
    guard let found else { return }
    let count = found.count
    log.add(
      .heOverlap, at: JSONValue(document: json, index: found.value),
      (count == 1 ? "an event begins" : "\(count) events begin")
        + " while another plays on the same vibrator; both sound, but hardware may play one")
  }
}

/// The keys of one notation. Each property reads, checks, orders, and writes one key.
struct RichTapSchema: Sendable {
  typealias Table<Owner> = JSONObjectSchema<Owner, RichTapDecoder>
  private typealias Field<Owner> = JSONProperty<Owner, RichTapDecoder>
  private typealias Event = RichTapDocument.Event
  private typealias Group = RichTapDocument.Group

  private static let he = RichTapSchema(.he)
  private static let oh = RichTapSchema(.oh)

  let file: Table<RichTapDocument>
  let event: Table<RichTapDocument.Event>
  let curvePoint: Table<RichTapDocument.CurvePoint>
  /// An entry of `Pattern`: an object with the key `Event`, or the event itself, as OpenHarmony's
  /// converter writes it.
  let patternEntry: JSONSchema

  static func schema(of dialect: RichTapDialect) -> RichTapSchema { dialect == .he ? he : oh }

  private init(_ dialect: RichTapDialect) {
    let isHE = dialect == .he
    let point = Self.curvePointSchema(dialect)
    let event = Self.eventSchema(dialect, curvePoint: point)
    let entry = JSONSchema(
      "an entry of Pattern", [JSONKey("Event", .object { event.schema })] + event.schema.keys)
    func pattern<Owner>(_ place: @escaping Field<Owner>.Accessor<Group>) -> Field<Owner> {
      Field(JSONKey("Pattern", .array(.object { entry }), is: .required)) { value, owner, reader in
        guard reader.expectKind(.array, of: value, as: "Pattern") else { return false }
        place(&owner) { reader.readEvents(of: value, into: &$0) }
        return true
      } write: { owner, _, object in
        let events = Field<Owner>.value(place, of: owner)?.events ?? []
        object.array("Pattern") { list in
          for one in events {
            list.object { $0.object("Event") { event.write(one, to: &$0) } }
          }
        }
      }
    }
    self.curvePoint = point
    self.event = event
    self.patternEntry = entry
    let metadata = Self.metadataSchema(dialect)
    if isHE {
      let list = Table<Group>(
        "an entry of PatternList",
        [
          .value("AbsoluteTime", .integer(0...Int(Int32.max)), is: .required, rule: .heAbsoluteTime)
          { $1(&$0.time) },
          pattern { $1(&$0) },
        ]
      ) { object, group, reader in
        if group.time <= reader.previousPatternTime, let value = object["AbsoluteTime"],
          reader.previousPatternTime >= 0
        {
          reader.log.add(
            .heAbsoluteTime, at: value,
            "AbsoluteTime is \(group.time), not after the \(reader.previousPatternTime) of the pattern before"
          )
        }
        reader.previousPatternTime = max(reader.previousPatternTime, group.time)
        return true
      }
      file = Table(
        "the file",
        [
          .group("Metadata", metadata),
          pattern { document, body in
            if document.groups.isEmpty {
              document.groups = [Group()]
            }
            body(&document.groups[0])
          }.only { $0.version == 1 },
          .array("PatternList", of: list, new: Group(), is: .required) { $1(&$0.groups) }.only {
            $0.version == 2
          },
        ]
      ) { object, document, reader in
        if document.version == 2, let list = object["PatternList"], list.kind == .array,
          list.elements.isEmpty
        {
          reader.log.add(.heStructure, at: list, "PatternList is empty")
        }
        return true
      }
    } else {
      let parameters = Table<Group>(
        "Parameters", [Self.vibratorField(presence: .required) { $1(&$0.vibrator) }])
      let channel = Table<Group>(
        "an entry of Channels",
        [.group("Parameters", parameters, layout: .singleLine), pattern { $1(&$0) }])
      file = Table(
        "the file",
        [
          .group("MetaData", metadata),
          .array("Channels", of: channel, new: Group(), is: .required) { $1(&$0.groups) },
        ]
      ) { object, document, reader in
        guard let value = object["MetaData"]?["ChannelNumber"], let list = object["Channels"],
          list.kind == .array,
          document.channelCount > 0
        else { return true }
        let found = list.elements.reduce(0) { count, _ in count + 1 }
        if document.channelCount != found {
          reader.log.add(
            .ohChannelCount, at: value,
            "ChannelNumber is \(document.channelCount); Channels has \(found)")
        }
        return true
      }
    }
  }

  private static func metadataSchema(_ dialect: RichTapDialect) -> Table<RichTapDocument> {
    let version = JSONKey("Version", .anyNumber, is: .required)
    // Values of other types are ignored.
    func text(_ name: String, _ place: @escaping Field<RichTapDocument>.Accessor<String?>) -> Field<
      RichTapDocument
    > {
      Field(JSONKey(name, .string())) { value, document, _ in
        place(&document) { $0 = value.string }
        return true
      } write: { document, _, object in
        if let text = Field.value(place, of: document) ?? nil {
          object.member(name, text)
        }
      }
    }
    var rows: [Field<RichTapDocument>] = [
      Field(version) { value, document, reader in
        guard let number: Double = reader.readScalar(value, key: version) else { return false }
        let known = dialect == .he ? [1.0, 2] : [1]
        if known.contains(dialect == .he ? number.rounded(.towardZero) : number) {
          document.version = Int(number)
          reader.details.append(
            ("version", dialect == .he ? "\(Int(number))" : value.truncatedLexeme))
        } else {
          reader.log.add(
            .heVersion, at: value,
            "Version is \(value.truncatedLexeme), not \(dialect == .he ? "1 or 2" : "1.0")")
        }
        return true
      } write: { document, _, object in
        if dialect == .he {
          object.member("Version", document.version)
        } else {
          object.member("Version", 1.0)
        }
      }
    ]
    if dialect == .oh {
      rows.append(
        .value("ChannelNumber", .integer(1...2), is: .required, rule: .ohChannelNumber) {
          $1(&$0.channelCount)
        })
    }
    rows += [
      text("Created") { $1(&$0.creationText) }, text("Create") { $1(&$0.creationText) },
      text("Description") { $1(&$0.notes) },
    ]
    return Table(dialect == .he ? "Metadata" : "MetaData", rows)
  }

  private static func eventSchema(
    _ dialect: RichTapDialect, curvePoint point: Table<RichTapDocument.CurvePoint>
  )
    -> Table<Event>
  {
    let frequency = JSONKey(
      "Frequency", .integer(dialect.frequencyRange(isTransient: true)),
      is: dialect == .he ? .required : .recommended,
      rule: .heFrequency)
    let parameters = Table<Event>(
      "Parameters",
      [
        .value(
          "Intensity", .integer(RichTapDialect.intensityRange), is: .required, rule: .heIntensity
        ) {
          $1(&$0.intensity)
        },
        .value(frequency) { event, _ in
          .integer(dialect.frequencyRange(isTransient: event.isTransient))
        } place: {
          $1(&$0.frequency)
        },
        Field(JSONKey("Curve", .array(.object { point.schema }), layout: .singleLine)) {
          value, event, reader in
          guard reader.expectKind(.array, of: value, as: "Curve") else { return false }
          reader.readCurve(value, into: &event)
          return true
        } write: { event, _, object in
          if event.curve.isEmpty { return }
          point.write(event.curve, as: "Curve", layout: .singleLine, to: &object)
        }.only { !$0.isTransient },
      ]
    ) { object, event, reader in
      if dialect == .he, !event.isTransient, object["Curve"] == nil {
        reader.log.add(
          .heCurveRequired, at: object, "a continuous event must have the key \"Curve\"")
      }
      guard !event.isTransient, object["Frequency"] == nil else { return true }
      // For a transient, the key is only recommended.
      if dialect == .oh {
        reader.reportMissing(
          frequency, isRequired: true, of: object, schema: JSONSchema("Parameters", []))
      }
      return false
    }
    let time: Field<Event> = .value(
      dialect == .he ? "RelativeTime" : "StartTime", .integer(dialect.timeRange), is: .required,
      rule: dialect == .he ? .heRelativeTime : .ohStartTime
    ) { $1(&$0.time) }
    return Table(
      "Event",
      [
        .enumeration("Type", is: .required, noun: "event type", rule: .heEventType) {
          $1(&$0.kind)
        }, time,
        .value("Duration", .integer(dialect.durationRange), is: .required, rule: .heDuration) {
          $1(&$0.duration)
        }.only {
          !$0.isTransient
        },
      ] + (dialect == .he ? [vibratorField(presence: .alwaysWritten) { $1(&$0.vibrator) }] : []) + [
        .group("Parameters", parameters)
      ])
  }

  private static func vibratorField<Owner>(
    presence: JSONKey.Presence,
    location place: @escaping Field<Owner>.Accessor<RichTapDocument.Vibrator>
  ) -> JSONProperty<Owner, RichTapDecoder> {
    let key = JSONKey("Index", .integer(0...2), is: presence, rule: .heIndex)
    return JSONProperty(key) { value, owner, reader in
      guard let number: Int = reader.readScalar(value, key: key) else { return false }
      place(&owner) { $0 = RichTapDocument.Vibrator(number: number) ?? .both }
      return true
    } write: { owner, _, object in
      object.member(
        "Index", (JSONProperty<Owner, RichTapDecoder>.value(place, of: owner) ?? .both).number)
    }
  }

  private static func curvePointSchema(_ dialect: RichTapDialect) -> Table<
    RichTapDocument.CurvePoint
  > {
    let presence = dialect == .he ? JSONKey.Presence.required : .recommended
    let time = JSONKey("Time", .anyNumber, is: .required, rule: .heCurveTime)
    let gain = JSONKey("Intensity", .anyNumber, is: presence)
    return Table(
      "a point of Curve",
      [
        .value(time) { _, reader in
          .integer(0...reader.currentEventDuration)
        } place: {
          $1(&$0.time)
        },
        Field(gain) { value, point, reader in
          guard let factor = reader.curveGain(value, key: gain) else { return false }
          point.gain = factor
          return true
        } write: { point, _, object in
          point.gain.write("Intensity", omitsPoint: true, to: &object)
        },
        .value(
          "Frequency", .integer(RichTapDialect.frequencyOffsetRange), is: presence,
          rule: .heCurveRange
        ) {
          $1(&$0.frequencyOffset)
        },
      ]
    ) { object, _, reader in
      guard dialect == .oh, object["Intensity"] == nil, object["Frequency"] == nil else {
        return true
      }
      reader.log.add(
        .heMissingKey, at: object,
        "a point of Curve must have the key \"Intensity\" or \"Frequency\"")
      return false
    }
  }
}

extension RichTapDialect {
  /// The rules of the notation, in listing order.
  var rules: [Rule] {
    switch self {
    case .he:
      [
        .syntax, .heDuplicateKey, .heTrailingComma, .heByteOrderMark, .heStructure, .heVersion,
        .heMissingKey,
        .wrongType, .heEventType, .heNoEventWrapper, .heEventCount, .heAbsoluteTime,
        .heRelativeTime,
        .heDuration, .heIndex,
        .heIntensity, .heFrequency, .heFraction, .heCurveRequired, .heCurvePointCount, .heCurveTime,
        .heCurveEnds,
        .heCurveRange, .hePercentCurve, .heOverlap,
      ]
    case .oh:
      [
        .syntax, .heDuplicateKey, .heTrailingComma, .heByteOrderMark, .ohFileSize, .ohStructure,
        .ohVersion,
        .heMissingKey, .wrongType, .heEventType, .ohChannelNumber, .ohChannelCount,
        .heNoEventWrapper, .ohEventCount,
        .ohStartTime, .ohDuration, .heIndex, .heIntensity, .ohFrequency, .heFraction,
        .heCurvePointCount,
        .ohCurveTime,
        .heCurveRange, .hePercentCurve, .ohPartialKeys, .heOverlap,
      ]
    }
  }
}

/// The rules of RichTap files. Names with `he` apply to both notations; names with `oh` are
/// specific to HarmonyOS, or state the same rule in its terms.
extension Rule {
  static let heDuplicateKey = warning(
    "duplicate-key", "syntax", "A key should appear only once in an object; the last one is used.")
  static let heTrailingComma = warning(
    "trailing-comma", "syntax",
    "A comma before a closing bracket is not valid JSON; devices refuse it.")
  static let heByteOrderMark = note(
    "byte-order-mark", "syntax", "The text should not start with a byte-order mark.")
  static let ohFileSize = error(
    "file-size", "syntax", "The file must not be larger than 64 KiB; HarmonyOS refuses larger ones."
  )

  static let heStructure = error(
    "structure", "grammar",
    "The file must be an object with Metadata and Pattern (version 1) or PatternList (version 2).")
  static let ohStructure = error(
    "structure", "grammar",
    "The file must be an object with MetaData and Channels, each with Parameters and Pattern.")
  static let heVersion = error("version", "grammar", "Metadata.Version must be 1 or 2.")
  static let ohVersion = error("version", "grammar", "MetaData.Version must be 1.0.")
  static let heMissingKey = error(
    "missing-key", "grammar", "Events and points of curves must have their required keys.")
  static let heEventType = error("event-type", "grammar", "Type must be transient or continuous.")
  static let ohChannelNumber = error(
    "channel-number", "grammar", "MetaData.ChannelNumber must be 1 or 2.")
  static let ohChannelCount = error(
    "channel-count", "grammar", "There must be as many Channels as MetaData.ChannelNumber says.")

  static let heEventCount = warning(
    "event-count", "range", "A Pattern should have 1 to 16 events; HarmonyOS refuses others.")
  static let ohEventCount = error(
    "event-count", "range", "A Pattern must not have more than 128 events.")
  static let heAbsoluteTime = error(
    "absolute-time", "range",
    "AbsoluteTime must not be negative, and must rise from pattern to pattern.")
  static let heRelativeTime = error(
    "relative-time", "range",
    "RelativeTime must not be negative, and must not fall from event to event.")
  static let ohStartTime = error("start-time", "range", "StartTime must be 0 to 1800000 ms.")
  static let heDuration = error(
    "duration", "range", "The Duration of a continuous event must be 1 to 5000 ms.")
  static let ohDuration = error(
    "duration", "range", "The Duration of a continuous event must be 0 to 5000 ms.")
  static let heIndex = error(
    "index", "range", "Index must be 0 (both vibrators), 1 (left) or 2 (right).")
  static let heIntensity = error("intensity", "range", "Intensity must be 0 to 100.")
  static let heFrequency = error(
    "frequency", "range", "Frequency must be 0 to 100, that of a transient -50 to 150.")
  static let ohFrequency = error("frequency", "range", "Frequency must be 0 to 100.")
  static let heFraction = warning(
    "fraction", "range",
    "Values other than the Intensity of a curve should be whole numbers; devices drop fractions.")
  static let heCurveRequired = error(
    "curve-required", "range", "A continuous event must have a Curve.")
  static let heCurvePointCount = error(
    "curve-point-count", "range", "A Curve must have 4 to 16 points.")
  static let heCurveTime = error(
    "curve-time", "range",
    "Times of a Curve must rise from point to point, from 0 to the Duration of the event.")
  static let ohCurveTime = error(
    "curve-time", "range", "Times of a Curve must be 0 to the Duration of the event.")
  static let heCurveEnds = error(
    "curve-ends", "range",
    "A Curve must begin at Time 0 and end at the Duration of the event, both with Intensity 0.")
  static let heCurveRange = error(
    "curve-range", "range", "The Intensity of a point must be 0 to 1, its Frequency -100 to 100.")

  static let heNoEventWrapper = warning(
    "no-event-wrapper", "compatibility",
    """
    An entry of Pattern should hold its event under the key Event; devices refuse others, which \
    OpenHarmony's converter writes.
    """
  )
  static let hePercentCurve = warning(
    "percent-curve", "compatibility",
    """
    The Intensity of a Curve should be 0 to 1; devices refuse percent, which OpenHarmony's \
    converter writes.
    """
  )
  static let ohPartialKeys = warning(
    "partial-keys", "compatibility",
    """
    Transients should have a Frequency, points of a Curve an Intensity and a Frequency; devices \
    refuse others, which OpenHarmony's schema allows.
    """
  )
  static let heOverlap = note(
    "overlap", "compatibility",
    "Events should not overlap on one vibrator; hardware may play one at a time.")
}
