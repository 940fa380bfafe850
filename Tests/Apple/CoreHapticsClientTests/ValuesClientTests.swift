import CoreHaptics
import Foundation
import HapticTesting
import Testing

// Code in several styles of programs for Apple's systems. It must compile unchanged.

private class HapticComposer {
  var events = [CHHapticEvent]()
  var curves = [CHHapticParameterCurve]()

  func addTaps() {
    for index in 0..<3 {
      let intensity = CHHapticEventParameter(parameterID: .hapticIntensity, value: Float(index) / 2)
      let sharpness = CHHapticEventParameter(parameterID: .hapticSharpness, value: 0.5)
      let event = CHHapticEvent(
        eventType: .hapticTransient, parameters: [intensity, sharpness],
        relativeTime: Double(index) * 0.1)
      events.append(event)
    }
  }

  func makePattern() throws -> CHHapticPattern {
    return try CHHapticPattern(events: events, parameters: [])
  }

  func makeFadingPattern() -> CHHapticPattern? {
    let start = CHHapticParameterCurve.ControlPoint(relativeTime: 0, value: 1)
    let end = CHHapticParameterCurve.ControlPoint(relativeTime: 1, value: 0)
    let curve = CHHapticParameterCurve(
      parameterID: .hapticIntensityControl, controlPoints: [start, end], relativeTime: 0)
    curves += [curve]
    let event = CHHapticEvent(
      eventType: CHHapticEvent.EventType.hapticContinuous, parameters: [], relativeTime: 0,
      duration: 1)
    return try? CHHapticPattern(events: [event], parameterCurves: curves)
  }
}

extension CHHapticEvent {
  fileprivate convenience init(tapAt time: TimeInterval, intensity: Float) {
    self.init(
      eventType: .hapticTransient,
      parameters: [.init(parameterID: .hapticIntensity, value: intensity)],
      relativeTime: time)
  }
}

extension CHHapticPattern.Key {
  fileprivate static let author = CHHapticPattern.Key(rawValue: "Author")
}

@Suite(.virtualHaptics) struct ValuesClientTests {
  @Test func arraysOfEventsMakePatterns() throws {
    let composer = HapticComposer()
    composer.addTaps()
    #expect(try composer.makePattern().duration == 0.2)
    #expect(composer.makeFadingPattern()?.duration == 1)
    #expect(try CHHapticPattern(events: [], parameters: []).duration == 0)
    let pattern = try CHHapticPattern(
      events: [.init(tapAt: 0.25, intensity: 1), CHHapticEvent(tapAt: 0.75, intensity: 0.4)],
      parameters: [.init(parameterID: .hapticSharpnessControl, value: -0.1, relativeTime: 0.9)])
    #expect(pattern.duration == 0.9)
  }

  @Test func literalWithoutTypesMakesPattern() throws {
    let hapticDict = [
      CHHapticPattern.Key.pattern: [
        [
          CHHapticPattern.Key.event: [
            CHHapticPattern.Key.eventType: CHHapticEvent.EventType.hapticTransient,
            CHHapticPattern.Key.time: 0.001,
            CHHapticPattern.Key.eventDuration: 1.0,
          ]
        ]
      ]
    ]
    let pattern = try CHHapticPattern(dictionary: hapticDict)
    #expect(pattern.duration == 1.001)
  }

  @Test func literalWithTypeMakesPattern() throws {
    let dictionary: [CHHapticPattern.Key: Any] = [
      .version: 1.0, .author: "somebody",
      .pattern: [
        [
          CHHapticPattern.Key.event: [
            CHHapticPattern.Key.eventType: CHHapticEvent.EventType.hapticContinuous.rawValue,
            .time: 0.5,
            .eventDuration: 2,
            .eventParameters: [
              [
                CHHapticPattern.Key.parameterID: CHHapticEvent.ParameterID.hapticIntensity,
                CHHapticPattern.Key.parameterValue: 0.8,
              ], [.parameterID: "HapticSharpness", .parameterValue: 0.3 as Float],
            ],
          ] as [CHHapticPattern.Key: Any]
        ],
        [
          CHHapticPattern.Key.parameter: [
            CHHapticPattern.Key.parameterID: CHHapticDynamicParameter.ID.hapticSharpnessControl,
            CHHapticPattern.Key.parameterValue: 0.1, CHHapticPattern.Key.time: 0,
          ]
        ],
      ],
    ]
    #expect(try CHHapticPattern(dictionary: dictionary).duration == 2.5)
    #expect(
      try CHHapticPattern(dictionary: [
        .pattern: [["Event": [CHHapticPattern.Key.eventType: "HapticTransient", .time: 3]]]
      ]).duration == 3)
    #expect(try CHHapticPattern(dictionary: [CHHapticPattern.Key.pattern: []]).duration == 0)
  }

  private let json = Data(
    #"""
    {"Version": 1, "Pattern": [{"Event": {"Time": 0.25, "EventType": "HapticContinuous",
      "EventDuration": 0.5, "EventParameters":
        [{"ParameterID": "HapticIntensity", "ParameterValue": 0.4}]}}]}
    """#.utf8)

  @Test func jsonObjectIsCastToKeys() throws {
    let object = try JSONSerialization.jsonObject(with: json, options: [])
    guard let dictionary = object as? [CHHapticPattern.Key: Any] else {
      Issue.record("the cast failed")
      return
    }
    #expect(try CHHapticPattern(dictionary: dictionary).duration == 0.75)
    let forced = object as! [CHHapticPattern.Key: Any]
    #expect(forced[.version] as? Int == 1)
    let entries = forced[.pattern] as? [[CHHapticPattern.Key: Any]]
    let event = entries?.first?[.event] as? [CHHapticPattern.Key: Any]
    #expect(event?[.eventType] as? String == "HapticContinuous")
  }

  @Test func stringsAreKeys() throws {
    let object = try JSONSerialization.jsonObject(with: json)
    let strings = object as! [String: Any]
    #expect(try CHHapticPattern(dictionary: strings).duration == 0.75)
    #expect(try CHHapticPattern(dictionary: object as! [AnyHashable: Any]).duration == 0.75)

    var keyed: [CHHapticPattern.Key: Any] = [:]
    for (key, value) in strings {
      keyed[CHHapticPattern.Key(rawValue: key)] = value
    }
    #expect(try CHHapticPattern(dictionary: keyed).duration == 0.75)

    let mapped = Dictionary(
      uniqueKeysWithValues: strings.map { (CHHapticPattern.Key(rawValue: $0), $1) })
    #expect(try CHHapticPattern(dictionary: mapped).duration == 0.75)

    let raw = [CHHapticPattern.Key.pattern.rawValue: strings["Pattern"]!]
    #expect(try CHHapticPattern(dictionary: raw).duration == 0.75)
  }

  @Test func foundationCollectionsMakePatterns() throws {
    let event: NSDictionary = ["EventType": NSString("HapticTransient"), "Time": NSNumber(2)]
    let root = NSDictionary(dictionary: ["Pattern": NSArray(array: [["Event": event]])])
    let dictionary = root as? [CHHapticPattern.Key: Any]
    #expect(try CHHapticPattern(dictionary: #require(dictionary)).duration == 2)
    let mixed: [CHHapticPattern.Key: Any] = [.pattern: NSMutableArray(object: ["Event": event])]
    #expect(try CHHapticPattern(dictionary: mixed).duration == 2)
  }

  @Test func exportBecomesJSON() throws {
    let pattern = try CHHapticPattern(
      events: [CHHapticEvent(tapAt: 0.5, intensity: 0.8)], parameters: [])
    let dictionary = try pattern.exportDictionary()
    #expect(JSONSerialization.isValidJSONObject(dictionary))
    let data = try JSONSerialization.data(withJSONObject: dictionary, options: [.sortedKeys])
    let text =
      #"{"Pattern":[{"Event":{"EventParameters":[{"ParameterID":"HapticIntensity","#
      + #""ParameterValue":0.8}],"EventType":"HapticTransient","Time":0.5}}],"Version":1}"#
    #expect(String(decoding: data, as: UTF8.self) == text)
    #expect((dictionary as? [String: Any])?.keys.sorted() == ["Pattern", "Version"])
  }

  @Test func filesMakePatterns() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("tap.ahap")
    try json.write(to: url)
    #expect(try CHHapticPattern(contentsOf: url).duration == 0.75)
    #expect(try CHHapticPattern(contentsOfURL: url).duration == 0.75)
    do {
      _ = try CHHapticPattern(contentsOf: folder.appendingPathComponent("none.ahap"))
      Issue.record("a file that does not exist was read")
    } catch CHHapticError.fileNotFound {}
    do {
      _ = try CHHapticPattern(dictionary: [:])
      Issue.record("an empty dictionary was read")
    } catch let error as NSError {
      #expect(error.code == CHHapticError.invalidPatternDictionary.rawValue)
      #expect(error.code == CHHapticError.Code.invalidPatternDictionary.rawValue)
    }
    do {
      _ = try CHHapticPattern(dictionary: [.pattern: 7])
    } catch {
      let hapticError = error as! CHHapticError
      switch hapticError.code {
      case .invalidPatternDictionary: break
      case .engineNotRunning, .notSupported: Issue.record("another code")
      default: Issue.record("another code")
      }
    }
  }

  @Test func valuesAreReadAndChanged() {
    let event = CHHapticEvent(
      eventType: .audioContinuous,
      parameters: [
        CHHapticEventParameter(parameterID: .audioVolume, value: 1),
        CHHapticEventParameter(parameterID: CHHapticEvent.ParameterID.sustained, value: 0),
      ], relativeTime: CHHapticTimeImmediate)
    event.relativeTime += 0.5
    event.duration = 2
    event.eventParameters.first?.value = 0.25
    #expect(event.relativeTime == 0.5)
    #expect(event.duration == 2)
    #expect(event.eventParameters.map(\.value) == [0.25, 0])
    let isAudio: Bool
    switch event.type {
    case .audioContinuous, .audioCustom: isAudio = true
    default: isAudio = false
    }
    #expect(isAudio)
    let ranges: [CHHapticEvent.ParameterID: Float] = [.hapticIntensity: 1, .hapticSharpness: 0.5]
    #expect(ranges[.hapticSharpness] == 0.5)
    var parameter: CHHapticDynamicParameter? = CHHapticDynamicParameter(
      parameterID: .audioPitchControl, value: 0.5, relativeTime: 0)
    parameter?.value = -1
    #expect(parameter?.value == -1)
    parameter = nil
  }

  @Test func objectsAreEqualByIdentity() {
    let one = CHHapticEventParameter(parameterID: .hapticIntensity, value: 1)
    let other = CHHapticEventParameter(parameterID: .hapticIntensity, value: 1)
    #expect(one == one)
    #expect(one != other)
    #expect(Set([one, other, one]).count == 2)
    #expect(one.isEqual(one))
    let object: NSObject = one
    #expect(object is CHHapticEventParameter)
  }
}
