public import Reading
import RecordingAnalysis
package import SystemSupport

extension Comparison {
  /// The version of the JSON format.
  public static let formatVersion = 1

  /// Writes the comparison as fields of a JSON object.
  public func write(to json: inout JSONObjectWriter) { jsonFields.write(to: &json) }

  /// The comparison as the fields of a JSON object.
  package var jsonFields: JSONObject {
    let equalityFields: JSONObject =
      switch equality {
      case .identical:
        ["equality": "identical"]
      case .approximate(let residualDecibels, let levelDecibels):
        [
          "equality": "within",
          "residueDecibels": JSONElement.finiteNumber(residualDecibels),
          "levelDecibels": JSONElement.finiteNumber(levelDecibels),
        ]
      case .different:
        ["equality": "different"]
      }
    let takeFields: JSONObject = [
      "label": options.candidateLabel, "name": candidate.name, "source": candidate.sourceKindName,
    ]
    let alignmentFields: JSONObject = [
      "seconds": JSONElement.finiteNumber(alignment.delaySeconds),
      "correlation": JSONElement.finiteNumber(alignment.correlation),
    ]
    let resultFields: JSONObject = [
      "sentences": notes + sentences + limitations,
      "spelling": notationDifferences,
      "recording": recordingMatch?.jsonFields.json ?? JSONElement.null,
      "alignment": alignmentFields, "match": options.levelMatch?.rawValue ?? "shared",
      "referenceGain": JSONElement.finiteNumber(referenceGain),
      "gain": JSONElement.finiteNumber(candidateGain),
      "differences": differences.map(\.jsonFields), "figures": measurements[1].jsonFields,
    ]
    return takeFields + equalityFields + resultFields
  }
}

extension Difference {
  fileprivate var jsonFields: JSONObject {
    [
      "kind": kind.rawValue, "start": JSONElement.finiteNumber(timeRange.lowerBound),
      "end": JSONElement.finiteNumber(timeRange.upperBound),
      "throughout": isOverall, "amount": JSONElement.finiteNumber(amount), "unit": unit.rawValue,
      "before": JSONElement.finiteNumber(referenceValue),
      "after": JSONElement.finiteNumber(candidateValue),
      "referenceEvents": JSONElement.inlineArray(referenceEventIndices.map(\.json)),
      "otherEvents": JSONElement.inlineArray(candidateEventIndices.map(\.json)),
      "significance": JSONElement.finiteNumber(significance),
      "largestShiftSeconds": JSONElement.finiteNumber(maximumShiftSeconds),
      "confidence": JSONElement.finiteNumber(confidence),
      "standardError": JSONElement.finiteNumber(standardError),
      "slack": JSONElement.finiteNumber(maximumRoundingError), "sentence": sentence,
    ]
  }
}

extension RecordingMatch {
  fileprivate var jsonFields: JSONObject {
    func numberIfFound(_ value: Double?) -> JSONElement {
      .finiteNumber(outcome == .found ? value : nil)
    }
    return [
      "match": outcome.rawValue, "searchSeconds": JSONElement.finiteNumber(searchSeconds),
      "delaySeconds": numberIfFound(delaySeconds),
      "tempoPercent": numberIfFound(tempoPercent),
      "tempoErrorPercent": numberIfFound(tempoErrorPercent),
      "inverted": outcome == .found ? JSONElement.bool(isInverted) : .null,
      "levelDecibels": numberIfFound(levelDecibels),
      "noiseDecibels": JSONElement.finiteNumber(noiseDecibels),
      "humDecibels": JSONElement.finiteNumber(humDecibels),
      "mainsHertz": JSONElement.finiteNumber(mainsHertz),
      "humHertz": JSONElement.inlineArray(humHertz.map(\.json)),
      "response": playbackAndRecordingChain.map { chain in
        JSONElement.customObject(.singleLine) { chain.write(to: &$0) }
      },
      "judgedEvents": detectableEventCount, "events": eventCount,
      "leastDecibels": JSONElement.finiteNumber(minimumDetectableDecibels),
      "leastSeconds": JSONElement.finiteNumber(minimumDetectableSeconds),
    ]
  }
}

extension Tolerance.Excess {
  /// The excess as the fields of a JSON object.
  ///
  /// A missing value or limit is written as null.
  package var jsonFields: JSONObject {
    [
      "kind": kind.rawValue, "value": JSONElement.finiteNumber(value),
      "limit": JSONElement.finiteNumber(limit),
      "unit": unit.rawValue,
      "start": JSONElement.finiteNumber(timeRange.lowerBound),
      "end": JSONElement.finiteNumber(timeRange.upperBound),
      "verified": !isUnverified,
      "text": text,
    ]
  }
}

extension TakeMeasurements {
  /// The values of the measurements by their JSON keys.
  ///
  /// A missing value is null.
  package var jsonFields: JSONObject {
    measurements.reduce([:]) { $0 + [$1.key: JSONElement.finiteNumber($1.value)] } + [
      "channels": channelCount
    ]
  }
}

extension Take {
  /// The name of the take's source in JSON: `sound` or `pattern`.
  public var sourceKindName: String { composition == nil ? "sound" : "pattern" }
}

extension JSONObjectWriter {
  /// Writes a number, or null if it is nil or not finite.
  mutating func writeNumberOrNull(_ key: String, _ value: Double?) {
    if let value, value.isFinite {
      writeMember(key, value)
    } else {
      writeNull(key)
    }
  }
}
