public import Diagnostics
public import HapticModel
import JSONText

extension AHAPDocument {
  /// Makes the file of a pattern: events first, then parameters, then curves, each in its order.
  ///
  /// Values are written as they are. Reading the file back gives an equal pattern if they are
  /// within their ranges and control points are sorted. A number that is not finite is refused.
  public init(
    pattern: HapticPattern, metadata: AHAPMetadata = AHAPMetadata(), name: String = "pattern"
  ) throws(InputError) {
    if let path = pattern.firstInfinity {
      throw InputError(
        Finding(
          .outOfRange, severity: .error, place: SourcePlace(name: name, path: path),
          "non-finite numbers (NaN, infinity) cannot be written",
          foreignCode: CoreHapticsCode.invalidPatternData))
    }
    var writer = JSONWriter(layout: .compact)
    writer.object { file in
      file.member(.version, 1.0)
      if !metadata.items.isEmpty {
        file.object(AHAPKey.metadata.rawValue) { object in
          for item in metadata.items { object.member(item.name, item.text) }
        }
      }
      file.array(AHAPKey.pattern.rawValue) { entries in
        for event in pattern.events {
          entries.object { $0.object(AHAPKey.event.rawValue) { $0.write(event) } }
        }
        for parameter in pattern.parameters {
          entries.object { $0.object(AHAPKey.parameter.rawValue) { $0.write(parameter) } }
        }
        for curve in pattern.curves {
          entries.object { $0.object(AHAPKey.parameterCurve.rawValue) { $0.write(curve) } }
        }
      }
    }
    try self.init(text: writer.finish(), name: name)
  }
}

extension JSONObjectWriter {
  fileprivate mutating func member(_ key: AHAPKey, _ value: Double) { member(key.rawValue, value) }

  fileprivate mutating func write(_ event: HapticEvent) {
    member(.time, event.time)
    member(AHAPKey.eventType.rawValue, event.kind.rawValue)
    if let duration = event.duration { member(.eventDuration, duration) }
    if let waveform = event.waveform {
      member(AHAPKey.eventWaveformPath.rawValue, waveform.path)
      member(AHAPKey.eventWaveformUseVolumeEnvelope.rawValue, waveform.usesVolumeEnvelope)
      member(AHAPKey.eventWaveformLoopEnabled.rawValue, waveform.isLooping)
    }
    let identifiers = event.parameters.identifiers
    guard !identifiers.isEmpty else { return }
    array(AHAPKey.eventParameters.rawValue) { list in
      for id in identifiers {
        list.object { object in
          object.member(AHAPKey.parameterID.rawValue, id.rawValue)
          object.member(AHAPKey.parameterValue.rawValue, event.parameters[id] ?? 0)
        }
      }
    }
  }

  fileprivate mutating func write(_ parameter: DynamicParameter) {
    member(AHAPKey.parameterID.rawValue, parameter.id.rawValue)
    member(.time, parameter.time)
    member(AHAPKey.parameterValue.rawValue, parameter.value)
  }

  fileprivate mutating func write(_ curve: ParameterCurve) {
    member(AHAPKey.parameterID.rawValue, curve.id.rawValue)
    member(.time, curve.time)
    array(AHAPKey.parameterCurveControlPoints.rawValue) { list in
      for point in curve.controlPoints {
        list.object { object in
          object.member(.time, point.time)
          object.member(AHAPKey.parameterValue.rawValue, point.value)
        }
      }
    }
  }
}

extension HapticPattern {
  /// The path of the first number that text cannot hold, counted within its list, or nothing.
  fileprivate var firstInfinity: String? {
    for (index, event) in events.enumerated() {
      let values = event.parameters.identifiers.compactMap { event.parameters[$0] }
      let isFinite =
        event.time.isFinite && event.duration?.isFinite != false
        && values.allSatisfy(\.isFinite)
      if !isFinite { return "events[\(index)]" }
    }
    for (index, parameter) in parameters.enumerated() {
      let isFinite = parameter.time.isFinite && parameter.value.isFinite
      if !isFinite { return "parameters[\(index)]" }
    }
    for (index, curve) in curves.enumerated() {
      let isFinite =
        curve.time.isFinite
        && curve.controlPoints.allSatisfy { $0.time.isFinite && $0.value.isFinite }
      if !isFinite { return "curves[\(index)]" }
    }
    return nil
  }
}
