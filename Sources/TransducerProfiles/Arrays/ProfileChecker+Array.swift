import HapticRender
import JSONText

extension ProfileChecker {
  /// The profile of a transducer; one that cannot be had is a fault.
  mutating func profile(of transducer: JSONValue, from source: ArrayProfiles) -> TransducerProfile {
    guard let value = transducer["profile"], let word = value.string, !word.isEmpty else {
      return .phone
    }
    do {
      return try source.profile(word)
    } catch let error as ArrayProfiles.Missing {
      log.add(
        .invalidValue, at: value, "no profile is called \(word.quoted())",
        hint: error.nearest.map { "did you mean \"\($0)\"?" } ?? "'temblor profiles' lists them")
    } catch {
      log.add(.invalidValue, at: value, "\(word.quoted()) cannot be used: \(error)")
    }
    return .phone
  }

  /// No channel drives two transducers.
  mutating func checkChannels(of transducers: [JSONValue]) {
    var seen: Set<Double> = []
    for transducer in transducers {
      guard let value = transducer["channel"], let number = value.number else { continue }
      guard !seen.insert(number).inserted else { continue }
      log.add(
        .contradiction, at: value, "channel \(number.asWritten) is used twice",
        hint: "give each transducer a channel of its own")
    }
  }

  /// No two transducers are at one place, between which nothing could lie.
  mutating func checkPlaces(of transducers: [JSONValue], _ layout: TransducerArray.Layout) {
    let array = TransducerArray(name: "", layout: layout, transducers: [])
    var seen: [ArrayPosition] = []
    for transducer in transducers {
      guard let value = transducer["at"] else { continue }
      let place = ArrayPosition(value)
      guard place.x.isFinite, place.y.isFinite else { continue }
      if seen.contains(where: { array.distance($0, place) < TransducerArray.samePlace }) {
        log.add(
          .contradiction, at: value, "another transducer has the same position",
          hint: "give each transducer its own position")
      }
      seen.append(place)
    }
  }
}
