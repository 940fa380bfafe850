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
  public static let richTapHE = richTap(
    .richTapHE, id: "he", title: "RichTap HE", endings: ["he"], dialects: ["2", "1"]
  ) { outline in
    guard outline.hasRootKey("Metadata") else { return false }
    // AHAP has the same root keys.
    return outline.hasRootKey("PatternList")
      || outline.hasRootKey("Pattern") && outline.nestedKeys.contains("Type")
        && !outline.nestedKeys.contains("EventType")
  }

  /// The haptic files of HarmonyOS and OpenHarmony, which are JSON.
  ///
  /// They become the same layers as ``he``. Files whose names don't end in `oh.json` are recognized
  /// by their content.
  public static let harmonyOS = richTap(
    .harmonyOS, id: "oh", title: "HarmonyOS haptic JSON", endings: ["oh.json"]
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
      resolution: FormatResolution(
        intensityStep: 0.01, timeStepSeconds: 0.001, sharpnessStep: 0.01),
      matches: isMarked,
      read: { json, options in
        var decoder = RichTapDecoder.decode(json, dialect: dialect)
        if options.wantsFindings {
          decoder.checkWholeDocument()
        }
        var details = decoder.documentDetails
        if let created = decoder.document.creationDateOrAuthor {
          details.append(("created", created))
        }
        let converted = RichTapReader(
          decoder.findingLog.errorCount == 0 ? decoder.document : RichTapDocument())
        let sourceIndices = [[Int]](
          decoder.eventJSONValueIndices.flatMap { $0 }, at: converted.eventReferences.flatMap { $0 }
        )
        return ReadResult(
          converted.composition, of: json, log: decoder.findingLog, options: options,
          losses: converted.losses,
          sourceMap: SourceMap(events: sourceIndices) { json.location(ofValue: $0) },
          details: details)
      },
      write: { (composition, options) throws(InputError) in
        try composition.checkFinite(.richTapIntensityOutOfRange)
        var losses = LossLog()
        let played = composition.unrolled(passCount: options.loopPassCount, losses: &losses)
        var builder = RichTapBuilder(
          played, dialect: dialect, levelTolerance: options.curveToleranceFraction, losses: losses)
        if composition.title != nil, composition.notes != nil {
          builder.losses.add(
            .dropped, .composition,
            "only the notes are written, because the title and the notes share one field")
        }
        let notes = composition.notes ?? composition.title
        let bytes =
          switch dialect {
          case .harmonyOS: builder.channelListText(notes: notes)
          case .richTapHE where options.dialect == "1": builder.singlePatternText(notes: notes)
          case .richTapHE: builder.patternListText(notes: notes)
          }
        return WrittenFiles(
          [WrittenFiles.File(bytes)], losses: builder.losses.lossesWithOmittedCounts())
      }, shape: { RichTapSchema.schema(of: dialect).fileSchema.schema })
  }
}

/// A decoder of RichTap HE and HarmonyOS files.
///
/// Files of OpenHarmony's converter deviate from the format in two ways. If a strict reading finds
/// a deviation, the text is read again with tolerance for both.
struct RichTapDecoder: JSONSchemaReader {
  /// Writes the intensity factors of curves without a decimal point if they are whole numbers.
  static let omitsPointInWholeNumbers = true

  let jsonDocument: JSONDocument
  let dialect: RichTapDialect
  var findingLog = FindingLog()
  var document = RichTapDocument()
  /// The indices of the JSON values that the events were read from, by group.
  var eventJSONValueIndices: [[Int]] = []
  var documentDetails: [(name: String, value: String)] = []
  /// A Boolean value that indicates whether OpenHarmony's converter wrote the file.
  ///
  /// For such files, some rules are only warnings.
  private var isFromOpenHarmonyConverter = false
  /// A Boolean value that indicates whether the intensities of curves are in percent.
  private var readsCurveIntensitiesAsPercent = false
  private var unwrappedEvents: (first: Int, count: Int)?
  private var firstPercentIntensityValue: JSONValue?
  /// The start of the preceding pattern, in milliseconds.
  fileprivate var previousPatternStartMilliseconds = -1
  fileprivate var currentEventStartMilliseconds = 0

  let schemaRules = JSONSchemaRules(
    missingKey: .richTapMissingKey, recommendedKey: .harmonyOSMissingOptionalKeys,
    wrongType: .wrongType,
    outOfRange: .richTapInvalidStructure,
    fractionHandling: .truncated(.richTapFractionalNumber))

  init(_ json: JSONDocument, dialect: RichTapDialect) {
    self.jsonDocument = json
    self.dialect = dialect
  }

  static func decode(_ json: JSONDocument, dialect: RichTapDialect) -> RichTapDecoder {
    var strictDecoder = RichTapDecoder(json, dialect: dialect)
    strictDecoder.decodeRoot()
    guard strictDecoder.unwrappedEvents != nil || strictDecoder.firstPercentIntensityValue != nil
    else {
      return strictDecoder
    }
    var lenientDecoder = RichTapDecoder(json, dialect: dialect)
    lenientDecoder.isFromOpenHarmonyConverter = true
    lenientDecoder.readsCurveIntensitiesAsPercent = strictDecoder.firstPercentIntensityValue != nil
    lenientDecoder.decodeRoot()
    return lenientDecoder
  }

  private mutating func decodeRoot() {
    let root = jsonDocument.root
    guard root.kind == .object else {
      return findingLog.add(
        .richTapInvalidStructure, at: root,
        "the file must be an object, not \(root.kind.nounWithArticle)")
    }
    if jsonDocument.text.count > dialect.maximumFileByteCount {
      findingLog.add(
        .harmonyOSFileTooLarge, at: root, offset: 0,
        """
        the file has \(jsonDocument.text.count) bytes; HarmonyOS rejects more than \
        \(dialect.maximumFileByteCount)
        """
      )
    }
    var decodedDocument = RichTapDocument()
    RichTapSchema.schema(of: dialect).fileSchema.read(root, into: &decodedDocument, reader: &self)
    document = decodedDocument
    if let unwrappedEvents {
      let unwrappedEventCount = unwrappedEvents.count
      findingLog.add(
        .richTapMissingEventWrapper,
        at: JSONValue(document: jsonDocument, index: unwrappedEvents.first),
        (unwrappedEventCount == 1 ? "an event is" : "\(unwrappedEventCount) events are")
          + " not under the key \"Event\"",
        suggestion: "write {\"Event\": {…}}")
    }
    if let firstPercentIntensityValue {
      findingLog.add(
        .richTapCurveInPercent, at: firstPercentIntensityValue,
        "curve intensities are read as percentages, because one of them is greater than 1",
        suggestion: "divide all curve intensities by 100")
    }
  }

  fileprivate mutating func readEvents(
    of pattern: JSONValue, into group: inout RichTapDocument.Group
  ) {
    let richTapSchema = RichTapSchema.schema(of: dialect)
    var decodedValueIndices: [Int] = []
    var eventCount = 0
    var previousStartMilliseconds = 0
    for entry in pattern.elements {
      eventCount += 1
      guard expectKind(.object, of: entry, as: richTapSchema.patternEntrySchema.nounWithArticle)
      else {
        continue
      }
      let members = richTapSchema.patternEntrySchema.keyNames.indexedMembers(of: entry)
      var value = members[0]
      if value == nil, members[1] != nil {
        unwrappedEvents = (
          unwrappedEvents?.first ?? entry.nodeIndex, (unwrappedEvents?.count ?? 0) + 1
        )
        value = entry
      }
      guard let value else {
        reportMissingKey(
          richTapSchema.patternEntrySchema.keys[0], isRequired: true, of: entry,
          schema: richTapSchema.patternEntrySchema)
        continue
      }
      var event = RichTapDocument.Event(
        kind: .transient, startMilliseconds: 0, intensityPercent: 0, frequencyPercent: 50)
      guard richTapSchema.eventSchema.read(value, into: &event, reader: &self) else { continue }
      if dialect == .richTapHE, event.startMilliseconds < previousStartMilliseconds {
        findingLog.add(
          .richTapInvalidRelativeTime, at: value,
          """
          RelativeTime is \(event.startMilliseconds), before the previous event at \
          \(previousStartMilliseconds)
          """
        )
      }
      previousStartMilliseconds = max(previousStartMilliseconds, event.startMilliseconds)
      group.events.append(event)
      decodedValueIndices.append(value.nodeIndex)
    }
    if eventCount > dialect.maximumEventCount {
      findingLog.add(
        dialect == .richTapHE ? .richTapWrongEventCount : .harmonyOSTooManyEvents, at: pattern,
        "Pattern has \(eventCount) events; HarmonyOS rejects more than \(dialect.maximumEventCount)"
      )
    } else if eventCount == 0, dialect == .richTapHE {
      findingLog.add(.richTapWrongEventCount, at: pattern, severity: .error, "Pattern is empty")
    }
    eventJSONValueIndices.append(decodedValueIndices)
  }

  fileprivate mutating func readCurve(_ curve: JSONValue, into event: inout RichTapDocument.Event) {
    currentEventStartMilliseconds = max(event.durationMilliseconds, 0)
    let previousErrorCount = findingLog.errorCount
    var pointCount = 0
    for value in curve.elements {
      pointCount += 1
      var point = RichTapDocument.CurvePoint(
        timeMilliseconds: 0, intensityFactor: 1, frequencyOffsetPercent: 0)
      guard
        RichTapSchema.schema(of: dialect).curvePointSchema.read(value, into: &point, reader: &self)
      else { continue }
      if dialect == .richTapHE, let last = event.curve.last,
        point.timeMilliseconds <= last.timeMilliseconds
      {
        findingLog.add(
          .richTapInvalidCurveTime, at: value["Time"] ?? value,
          """
          Time is \(point.timeMilliseconds), not after the previous point at \
          \(last.timeMilliseconds)
          """
        )
      }
      event.curve.append(point)
    }
    if !RichTapDialect.curvePointCountRange.contains(pointCount) {
      findingLog.add(
        .richTapWrongCurvePointCount, at: curve, "Curve has \(pointCount) points; expected 4 to 16")
    }
    guard dialect == .richTapHE else {
      // Points with equal times keep their order.
      let points = event.curve
      event.curve = points.indices.sorted {
        (points[$0].timeMilliseconds, $0) < (points[$1].timeMilliseconds, $1)
      }.map {
        points[$0]
      }
      return
    }
    guard let firstPoint = event.curve.first, let lastPoint = event.curve.last,
      currentEventStartMilliseconds > 0,
      previousErrorCount == findingLog.errorCount,
      firstPoint.timeMilliseconds != 0 || firstPoint.intensityFactor != 0
        || lastPoint.timeMilliseconds != currentEventStartMilliseconds
        || lastPoint.intensityFactor != 0
    else { return }
    findingLog.add(
      .richTapInvalidCurveEnds, at: curve, severity: isFromOpenHarmonyConverter ? .warning : .error,
      """
      Curve runs from Intensity \(firstPoint.intensityFactor) at \(firstPoint.timeMilliseconds) to \
      \(lastPoint.intensityFactor) at \(lastPoint.timeMilliseconds); it must run from 0 at 0 \
      to 0 at \(currentEventStartMilliseconds)
      """)
  }

  /// Reports a pattern that does not start after the preceding pattern.
  fileprivate mutating func checkPatternStartOrder(
    of group: RichTapDocument.Group, in object: JSONValue
  ) {
    if group.startMilliseconds <= previousPatternStartMilliseconds,
      let absoluteTimeValue = object["AbsoluteTime"],
      previousPatternStartMilliseconds >= 0
    {
      findingLog.add(
        .richTapInvalidAbsoluteTime, at: absoluteTimeValue,
        """
        AbsoluteTime is \(group.startMilliseconds), not after the previous pattern at \
        \(previousPatternStartMilliseconds)
        """
      )
    }
    previousPatternStartMilliseconds = max(
      previousPatternStartMilliseconds, group.startMilliseconds)
  }

  /// Returns the gain of a curve point. The decoder of HarmonyOS truncates to hundredths before it
  /// checks the range.
  fileprivate mutating func curvePointGain(_ value: JSONValue, key: JSONKey) -> Float? {
    guard var statedIntensity: Double = readScalar(value, key: key) else { return nil }
    if readsCurveIntensitiesAsPercent {
      statedIntensity /= 100
    }
    if !readsCurveIntensitiesAsPercent, statedIntensity >= 1.01 {
      firstPercentIntensityValue = firstPercentIntensityValue ?? value
    } else if !(-0.01 < statedIntensity && statedIntensity < 1.01) {
      findingLog.add(
        .richTapCurvePointOutOfRange, at: value,
        """
        Intensity is \(value.truncatedLexeme), outside 0 to \
        \(readsCurveIntensitiesAsPercent ? 100 : 1)
        """
      )
    } else if readsCurveIntensitiesAsPercent, firstPercentIntensityValue == nil,
      statedIntensity > 0.01
    {
      firstPercentIntensityValue = value
    }
    return Float(min(max(statedIntensity, 0), 1))
  }

  // MARK: - The text as a whole

  mutating func checkWholeDocument() {
    findingLog.addSyntaxDeviations(
      of: jsonDocument, byteOrderMark: .richTapByteOrderMark, trailingComma: .richTapTrailingComma,
      duplicateKey: .richTapDuplicateKey)
    if findingLog.errorCount == 0 {
      checkEventOverlaps()
    }
  }

  private mutating func checkEventOverlaps() {
    var eventsWithValueIndices: [(event: RichTapDocument.Event, value: Int)] = []
    for (group, values) in zip(document.groups, eventJSONValueIndices) {
      eventsWithValueIndices += zip(group.eventsInFileTime, values).map { (event: $0, value: $1) }
    }
    eventsWithValueIndices.sort {
      ($0.event.startMilliseconds, $0.value) < ($1.event.startMilliseconds, $1.value)
    }
    // The times at which the left and the right vibrator become free.
    var freeTimesByVibrator = [0, 0]
    var firstOverlapWithCount: (value: Int, count: Int)?
    for (event, value) in eventsWithValueIndices {
      let vibratorIndices =
        switch event.targetVibrator {
        case .left: 0...0
        case .right: 1...1
        case .both: 0...1
        }
      if vibratorIndices.contains(where: { event.startMilliseconds < freeTimesByVibrator[$0] }) {
        firstOverlapWithCount = (
          firstOverlapWithCount?.value ?? value, (firstOverlapWithCount?.count ?? 0) + 1
        )
      }
      let end =
        event.startMilliseconds
        + (event.isTransient
          ? RichTapDialect.transientDurationMilliseconds : event.durationMilliseconds)
      for vibrator in vibratorIndices {
        freeTimesByVibrator[vibrator] = max(freeTimesByVibrator[vibrator], end)
      }
    }
    guard let firstOverlapWithCount else { return }
    let overlapCount = firstOverlapWithCount.count
    findingLog.add(
      .richTapOverlappingEvents,
      at: JSONValue(document: jsonDocument, index: firstOverlapWithCount.value),
      (overlapCount == 1 ? "an event starts" : "\(overlapCount) events start")
        + """
         while another event plays on the same vibrator; both play, but hardware may play only one
        """)
  }
}

/// The JSON schema of one of the two file formats. Each property reads, checks, orders, and writes
/// one key.
struct RichTapSchema: Sendable {
  typealias ObjectSchema<Owner> = JSONObjectSchema<Owner, RichTapDecoder>
  private typealias Field<Owner> = JSONProperty<Owner, RichTapDecoder>
  private typealias Event = RichTapDocument.Event
  private typealias Group = RichTapDocument.Group

  private static let richTapHESchema = RichTapSchema(.richTapHE)
  private static let harmonyOSSchema = RichTapSchema(.harmonyOS)

  let fileSchema: ObjectSchema<RichTapDocument>
  let eventSchema: ObjectSchema<RichTapDocument.Event>
  let curvePointSchema: ObjectSchema<RichTapDocument.CurvePoint>
  /// An entry in the array `Pattern`: an object with the key `Event`, or the event itself, as
  /// OpenHarmony's converter writes it.
  let patternEntrySchema: JSONSchema

  static func schema(of dialect: RichTapDialect) -> RichTapSchema {
    dialect == .richTapHE ? richTapHESchema : harmonyOSSchema
  }

  private init(_ dialect: RichTapDialect) {
    let curvePointSchema = Self.curvePointSchema(dialect)
    let eventSchema = Self.eventSchema(dialect, curvePoint: curvePointSchema)
    let patternEntrySchema = JSONSchema(
      "an entry of Pattern",
      [JSONKey("Event", .object { eventSchema.schema })] + eventSchema.schema.keys)
    self.curvePointSchema = curvePointSchema
    self.eventSchema = eventSchema
    self.patternEntrySchema = patternEntrySchema
    switch dialect {
    case .richTapHE:
      fileSchema = Self.richTapHEFileSchema(entry: patternEntrySchema, event: eventSchema)
    case .harmonyOS:
      fileSchema = Self.harmonyOSFileSchema(entry: patternEntrySchema, event: eventSchema)
    }
  }

  /// Returns the schema of a RichTap HE file: `Pattern` in version 1, `PatternList` in version 2.
  private static func richTapHEFileSchema(
    entry: JSONSchema, event: ObjectSchema<Event>
  ) -> ObjectSchema<RichTapDocument> {
    let patternListSchema = ObjectSchema<Group>(
      "an entry of PatternList",
      [
        .value(
          "AbsoluteTime", .integer(0...Int(Int32.max)), is: .required,
          rule: .richTapInvalidAbsoluteTime
        ) {
          $1(&$0.startMilliseconds)
        },
        patternField(entry: entry, event: event) { $1(&$0) },
      ]
    ) { object, group, reader in
      reader.checkPatternStartOrder(of: group, in: object)
      return true
    }
    return ObjectSchema(
      "the file",
      [
        .group("Metadata", metadataSchema(.richTapHE)),
        patternField(entry: entry, event: event) { document, body in
          if document.groups.isEmpty {
            document.groups = [Group()]
          }
          body(&document.groups[0])
        }.appliesOnly { $0.formatVersion == 1 },
        .array("PatternList", of: patternListSchema, new: Group(), is: .required) { $1(&$0.groups) }
          .appliesOnly {
            $0.formatVersion == 2
          },
      ]
    ) { object, document, reader in
      if document.formatVersion == 2, let list = object["PatternList"], list.kind == .array,
        list.elements.isEmpty
      {
        reader.findingLog.add(.richTapInvalidStructure, at: list, "PatternList is empty")
      }
      return true
    }
  }

  /// Returns the schema of a HarmonyOS file: `Channels` with one `Pattern` each.
  private static func harmonyOSFileSchema(
    entry: JSONSchema, event: ObjectSchema<Event>
  ) -> ObjectSchema<RichTapDocument> {
    let parametersSchema = ObjectSchema<Group>(
      "Parameters", [vibratorField(presence: .required) { $1(&$0.targetVibrator) }])
    let channelSchema = ObjectSchema<Group>(
      "an entry of Channels",
      [
        .group("Parameters", parametersSchema, layout: .singleLine),
        patternField(entry: entry, event: event) { $1(&$0) },
      ])
    return ObjectSchema(
      "the file",
      [
        .group("MetaData", metadataSchema(.harmonyOS)),
        .array("Channels", of: channelSchema, new: Group(), is: .required) { $1(&$0.groups) },
      ]
    ) { object, document, reader in
      guard let value = object["MetaData"]?["ChannelNumber"], let list = object["Channels"],
        list.kind == .array,
        document.channelCount > 0
      else { return true }
      let actualCount = list.elements.reduce(0) { count, _ in count + 1 }
      if document.channelCount != actualCount {
        reader.findingLog.add(
          .harmonyOSChannelCountMismatch, at: value,
          "ChannelNumber is \(document.channelCount), but Channels has \(actualCount)")
      }
      return true
    }
  }

  /// Returns the JSON field `Pattern`, which contains the events of a group.
  private static func patternField<Owner>(
    entry: JSONSchema, event: ObjectSchema<Event>,
    _ accessor: @escaping Field<Owner>.Accessor<Group>
  ) -> Field<Owner> {
    Field(JSONKey("Pattern", .array(.object { entry }), is: .required)) { value, owner, reader in
      guard reader.expectKind(.array, of: value, as: "Pattern") else { return false }
      accessor(&owner) { reader.readEvents(of: value, into: &$0) }
      return true
    } write: { owner, _, object in
      let events = Field<Owner>.value(accessor, of: owner)?.events ?? []
      object.writeArray("Pattern") { list in
        for patternEvent in events {
          list.writeObject { $0.writeObject("Event") { event.write(patternEvent, to: &$0) } }
        }
      }
    }
  }

  private static func metadataSchema(_ dialect: RichTapDialect) -> ObjectSchema<RichTapDocument> {
    let versionKey = JSONKey("Version", .unboundedNumber, is: .required)
    // Values of other types are ignored.
    func metadataTextField(
      _ name: String, _ accessor: @escaping Field<RichTapDocument>.Accessor<String?>
    ) -> Field<RichTapDocument> {
      Field(JSONKey(name, .string())) { value, document, _ in
        accessor(&document) { $0 = value.string }
        return true
      } write: { document, _, object in
        if let text = Field.value(accessor, of: document) ?? nil {
          object.writeMember(name, text)
        }
      }
    }
    var metadataFields: [Field<RichTapDocument>] = [
      Field(versionKey) { value, document, reader in
        guard let number: Double = reader.readScalar(value, key: versionKey) else { return false }
        let supportedVersions = dialect == .richTapHE ? [1.0, 2] : [1]
        if supportedVersions.contains(dialect == .richTapHE ? number.rounded(.towardZero) : number)
        {
          document.formatVersion = Int(number)
          reader.documentDetails.append(
            ("version", dialect == .richTapHE ? "\(Int(number))" : value.truncatedLexeme))
        } else {
          let expectedVersions = dialect == .richTapHE ? "1 or 2" : "1.0"
          reader.findingLog.add(
            .richTapUnknownVersion, at: value,
            "Version is \(value.truncatedLexeme); expected \(expectedVersions)")
        }
        return true
      } write: { document, _, object in
        if dialect == .richTapHE {
          object.writeMember("Version", document.formatVersion)
        } else {
          object.writeMember("Version", 1.0)
        }
      }
    ]
    if dialect == .harmonyOS {
      metadataFields.append(
        .value(
          "ChannelNumber", .integer(1...2), is: .required, rule: .harmonyOSInvalidChannelNumber
        ) {
          $1(&$0.channelCount)
        })
    }
    metadataFields += [
      metadataTextField("Created") { $1(&$0.creationDateOrAuthor) },
      metadataTextField("Create") { $1(&$0.creationDateOrAuthor) },
      metadataTextField("Description") { $1(&$0.notes) },
    ]
    return ObjectSchema(dialect == .richTapHE ? "Metadata" : "MetaData", metadataFields)
  }

  private static func eventSchema(
    _ dialect: RichTapDialect, curvePoint: ObjectSchema<RichTapDocument.CurvePoint>
  )
    -> ObjectSchema<Event>
  {
    let frequencyKey = JSONKey(
      "Frequency", .integer(dialect.frequencyPercentRange(isTransient: true)),
      is: dialect == .richTapHE ? .required : .recommended,
      outOfRangeRule: .richTapFrequencyOutOfRange)
    let parametersSchema = ObjectSchema<Event>(
      "Parameters",
      [
        .value(
          "Intensity", .integer(RichTapDialect.intensityPercentRange), is: .required,
          rule: .richTapIntensityOutOfRange
        ) {
          $1(&$0.intensityPercent)
        },
        .value(frequencyKey) { event, _ in
          .integer(dialect.frequencyPercentRange(isTransient: event.isTransient))
        } access: {
          $1(&$0.frequencyPercent)
        },
        Field(JSONKey("Curve", .array(.object { curvePoint.schema }), layout: .singleLine)) {
          value, event, reader in
          guard reader.expectKind(.array, of: value, as: "Curve") else { return false }
          reader.readCurve(value, into: &event)
          return true
        } write: { event, _, object in
          if event.curve.isEmpty { return }
          curvePoint.write(event.curve, as: "Curve", layout: .singleLine, to: &object)
        }.appliesOnly { !$0.isTransient },
      ]
    ) { object, event, reader in
      if dialect == .richTapHE, !event.isTransient, object["Curve"] == nil {
        reader.findingLog.add(
          .richTapMissingCurve, at: object, "a continuous event must have the key \"Curve\"")
      }
      guard !event.isTransient, object["Frequency"] == nil else { return true }
      // For a transient, the key is only recommended.
      if dialect == .harmonyOS {
        reader.reportMissingKey(
          frequencyKey, isRequired: true, of: object, schema: JSONSchema("Parameters", []))
      }
      return false
    }
    let timeField: Field<Event> = .value(
      dialect == .richTapHE ? "RelativeTime" : "StartTime",
      .integer(dialect.eventTimeRangeMilliseconds), is: .required,
      rule: dialect == .richTapHE ? .richTapInvalidRelativeTime : .harmonyOSStartTimeOutOfRange
    ) { $1(&$0.startMilliseconds) }
    return ObjectSchema(
      "Event",
      [
        .enumeration("Type", is: .required, noun: "event type", rule: .richTapUnknownEventType) {
          $1(&$0.kind)
        }, timeField,
        .value(
          "Duration", .integer(dialect.durationRangeMilliseconds), is: .required,
          rule: .richTapDurationOutOfRange
        ) {
          $1(&$0.durationMilliseconds)
        }.appliesOnly {
          !$0.isTransient
        },
      ]
        + (dialect == .richTapHE
          ? [vibratorField(presence: .alwaysWritten) { $1(&$0.targetVibrator) }] : []) + [
          .group("Parameters", parametersSchema)
        ])
  }

  private static func vibratorField<Owner>(
    presence: JSONKey.Presence,
    location: @escaping Field<Owner>.Accessor<RichTapDocument.Vibrator>
  ) -> JSONProperty<Owner, RichTapDecoder> {
    let indexKey = JSONKey(
      "Index", .integer(0...2), is: presence, outOfRangeRule: .richTapInvalidVibratorIndex)
    return JSONProperty(indexKey) { value, owner, reader in
      guard let number: Int = reader.readScalar(value, key: indexKey) else { return false }
      location(&owner) { $0 = RichTapDocument.Vibrator(number: number) ?? .both }
      return true
    } write: { owner, _, object in
      object.writeMember(
        "Index", (JSONProperty<Owner, RichTapDecoder>.value(location, of: owner) ?? .both).number)
    }
  }

  private static func curvePointSchema(
    _ dialect: RichTapDialect
  ) -> ObjectSchema<RichTapDocument.CurvePoint> {
    let keyPresence = dialect == .richTapHE ? JSONKey.Presence.required : .recommended
    let timeKey = JSONKey(
      "Time", .unboundedNumber, is: .required, outOfRangeRule: .richTapInvalidCurveTime)
    let intensityKey = JSONKey("Intensity", .unboundedNumber, is: keyPresence)
    return ObjectSchema(
      "a point of Curve",
      [
        .value(timeKey) { _, reader in
          .integer(0...reader.currentEventStartMilliseconds)
        } access: {
          $1(&$0.timeMilliseconds)
        },
        Field(intensityKey) { value, point, reader in
          guard let factor = reader.curvePointGain(value, key: intensityKey) else { return false }
          point.intensityFactor = factor
          return true
        } write: { point, _, object in
          point.intensityFactor.write("Intensity", omitsPoint: true, to: &object)
        },
        .value(
          "Frequency", .integer(RichTapDialect.frequencyOffsetPercentRange), is: keyPresence,
          rule: .richTapCurvePointOutOfRange
        ) {
          $1(&$0.frequencyOffsetPercent)
        },
      ]
    ) { object, _, reader in
      guard dialect == .harmonyOS, object["Intensity"] == nil, object["Frequency"] == nil else {
        return true
      }
      reader.findingLog.add(
        .richTapMissingKey, at: object,
        "a point of Curve must have the key \"Intensity\" or \"Frequency\"")
      return false
    }
  }
}
