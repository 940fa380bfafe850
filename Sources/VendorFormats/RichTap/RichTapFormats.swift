public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// RichTap's haptic effects, versions 1 and 2, a text in JSON; read with the limits of the decoder
  /// of HarmonyOS.
  ///
  /// Events without curves are one layer, those with curves as few as possible; what only one of two
  /// vibrators plays is in layers named `left` and `right`. Written in whole milliseconds and percent.
  public static let he = richTap(.he, "he", title: "RichTap HE", endings: ["he"], dialects: ["2", "1"]) { outline in
    guard outline.has("Metadata") else { return false }
    // AHAP has the same outermost keys.
    return outline.has("PatternList")
      || outline.has("Pattern") && outline.nestedKeys.contains("Type") && !outline.nestedKeys.contains("EventType")
  }

  /// The haptic files of HarmonyOS and OpenHarmony, a text in JSON.
  ///
  /// Layers are those of ``he``. Files of other names than `oh.json` are recognised by their content.
  public static let oh = richTap(.oh, "oh", title: "HarmonyOS haptic JSON", endings: ["oh.json"]) {
    $0.has("Channels") && $0.has("MetaData")
  }

  private static func richTap(
    _ dialect: RichTapDialect, _ id: String, title: String, endings: [String], dialects: [String] = [],
    isMarked: @escaping @Sendable (JSONOutline) -> Bool
  ) -> HapticFormat {
    json(
      id, title: title, endings: endings, rules: dialect.rules, dialects: dialects, isMarked: isMarked,
      read: { json, options in
        var decoder = RichTapDecoder.decode(json, dialect: dialect)
        if options.wantsFindings { decoder.checkText() }
        var details = decoder.details
        if let created = decoder.document.created { details.append(("created", created)) }
        let made = decoder.log.errorCount == 0 ? RichTapComposition(decoder.document) : nil
        return Examination(
          composition: made?.composition, findings: decoder.log.findings(in: json, for: options),
          errorCount: decoder.log.errorCount, losses: options.wantsFindings ? made?.losses ?? [] : [],
          places: SourcePlaces(
            RichTapPlaces(json, references: made?.references ?? [], values: decoder.eventValues).place(of:)),
          details: details)
      },
      write: { (composition, options) throws(InputError) in
        try composition.checkFinite(.heIntensity)
        var losses = LossLog()
        let played = composition.unrolled(passes: options.loops, losses: &losses)
        let builder = RichTapBuilder(played, dialect: dialect, tolerance: options.tolerance, losses: losses)
        losses = builder.losses
        if composition.title != nil, composition.notes != nil {
          losses.add(.dropped, .composition, "the title cannot be written beside the notes")
        }
        var writer = RichTapWriter(notes: composition.notes ?? composition.title, losses: losses)
        let bytes =
          switch dialect {
          case .oh: writer.ohChannels(builder.sorted)
          case .he where options.dialect == "1": writer.hePattern(builder.sorted)
          case .he: writer.heList(builder.sorted)
          }
        return Writing([Writing.File(bytes)], losses: writer.losses.finish())
      }, shape: { RichTapTables.of(dialect).file.shape })
  }
}
