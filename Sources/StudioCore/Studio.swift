internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import Reading
internal import TransducerProfiles
internal import VendorFormats

/// What a page or another host works with: patterns in slots, how they sound, and what is said about them.
///
/// Not for several threads at once; a host that needs several makes an instance of the module for each.
final class Studio {
  /// A and B, and one for copies.
  var slots = [Slot(), Slot(), Slot()]
  /// Sound files by the paths that patterns name.
  var sounds: [String: HostSound] = [:]
  /// The profiles that are shipped, and behind them those of a user.
  var profiles = ProfileCatalog.names.compactMap { ProfileCatalog.profile(named: $0) }
  /// The last rendering: its samples, their rate and the profile.
  var rendered: (samples: [Float], rate: Double, profile: Int) = ([], Studio.usualRate, 0)
  /// What the last conversion could not keep.
  var losses: [PlacedLoss] = []

  /// The most slots of a host.
  private static let slotLimit = 65_536

  /// Makes the slots up to a number, where so many may be.
  func makeSlots(upTo number: Int) {
    while slots.count <= number, number < Self.slotLimit { slots.append(Slot()) }
  }

  /// What is asked for by a name, as bytes.
  func report(_ name: String, slot: Int, profile: Int) -> [UInt8] {
    switch name {
    case "formats": return listFormats()
    case "losses": return listLosses()
    case "profiles": return listProfiles()
    default: break
    }
    guard slots.indices.contains(slot) else { return [] }
    switch name {
    case "text": return slots[slot].text
    case "original": return slots[slot].original
    case "history": return history(slot)
    case "lines": return changedLines(slot)
    case "score": return score(slot)
    case "origin": return origin(slot)
    case "check": return check(slot, profile: profile)
    default: return []
    }
  }

  /// The formats as JSON.
  private func listFormats() -> [UInt8] {
    var writer = JSONWriter(layout: .compact)
    writer.array { list in
      for format in FormatRegistry.standard.formats {
        list.object { object in
          object.member("id", format.id)
          object.member("title", format.title)
          object.array("extensions") { endings in for ending in format.endings { endings.element(ending) } }
          object.member("reads", true)
          object.member("writes", format.isWritable)
        }
      }
    }
    return writer.finish()
  }

  /// The text of a slot in another format; nil where it cannot be written.
  func save(_ slot: Int, as id: String) -> [UInt8]? {
    losses = []
    guard let target = FormatRegistry.standard.format(id: id) else { return nil }
    let file = SourceFile(slots[slot].text, name: slots[slot].name)
    guard let made = try? Conversion.convert(file, from: .ahap, to: target) else { return nil }
    losses = made.losses
    return made.bytes
  }

  /// What the last conversion could not keep, as JSON.
  func listLosses() -> [UInt8] {
    var writer = JSONWriter(layout: .compact)
    writer.array { $0.elements(losses) }
    return writer.finish()
  }

  /// The format that a slot was opened from and what was lost, as JSON.
  func origin(_ slot: Int) -> [UInt8] {
    let origin = slots[slot].origin
    var writer = JSONWriter(layout: .compact)
    writer.object { object in
      object.member("format", origin?.format.id ?? HapticFormat.ahap.id)
      object.member("title", origin?.format.title ?? HapticFormat.ahap.title)
      object.array("losses") { $0.elements(origin?.losses ?? []) }
    }
    return writer.finish()
  }

  /// What can be undone and redone, as JSON.
  func history(_ slot: Int) -> [UInt8] {
    let history = slots[slot].history
    var writer = JSONWriter(layout: .compact)
    writer.object { object in
      for (key, label) in [("undo", history.undo), ("redo", history.redo)] {
        if let label { object.member(key, label) } else { object.null(key) }
      }
      object.member("changed", history.isChanged)
      object.member("readable", slots[slot].isReadable)
    }
    return writer.finish()
  }

  /// The numbers of changed lines, as JSON.
  func changedLines(_ slot: Int) -> [UInt8] {
    var writer = JSONWriter(layout: .compact)
    writer.array { list in for line in slots[slot].changedLines { list.element(line) } }
    return writer.finish()
  }
}

/// A sound file as a host has decoded it.
struct HostSound {
  var interleaved: [Float]
  var channelCount: Int
  var rate: Double

  /// The sound at the rate of a plan.
  func buffer(rate: Double) -> AudioBuffer {
    AudioBuffer(interleaved: interleaved, channelCount: channelCount, rate: self.rate, playedAt: rate)
  }
}
