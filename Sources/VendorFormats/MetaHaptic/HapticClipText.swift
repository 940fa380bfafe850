internal import HapticFormats
import HapticModel
import Reading

/// The text of `.haptic` files.
enum HapticClipText {
  /// The keys in their order; points stand on one line each.
  static let layout: JSONLayout = {
    let version = JSONLayout.object(["major", "minor", "patch"], isLine: true)
    let metadata = JSONLayout.object(["editor", "author", "source", "project", "tags", "description"])
    let emphasis = JSONLayout.object(["amplitude", "frequency"], isLine: true)
    let point = JSONLayout.object(["time", "amplitude", "emphasis"], ["emphasis": emphasis], isLine: true)
    let tone = JSONLayout.object(["time", "frequency"], isLine: true)
    let envelopes = JSONLayout.object(
      ["amplitude", "frequency"], ["amplitude": .array(of: point), "frequency": .array(of: tone)])
    let continuous = JSONLayout.object(["envelopes"], ["envelopes": envelopes])
    let signals = JSONLayout.object(["continuous"], ["continuous": continuous])
    return .object(["version", "metadata", "signals"], ["version": version, "metadata": metadata, "signals": signals])
  }()
}

extension HapticClip {
  /// The file of a clip, with what a composition says about itself.
  func text(of composition: HapticComposition) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { file in
      file.object("version", layout: .line) { version in
        version.member("major", 1)
        version.member("minor", 0)
        version.member("patch", 0)
      }
      file.object("metadata") { metadata in
        metadata.member("editor", "Temblor")
        metadata.member("author", composition.author ?? "")
        metadata.member("source", "")
        metadata.member("project", composition.title ?? "")
        metadata.array("tags", layout: .line) { _ in }
        metadata.member("description", composition.notes ?? "")
      }
      file.object("signals") { signals in
        signals.object("continuous") { continuous in continuous.object("envelopes") { write(to: &$0) } }
      }
    }
    return writer.finish()
  }

  private func write(to envelopes: inout JSONObjectWriter) {
    envelopes.array("amplitude") { list in
      for point in amplitude {
        list.object(layout: .line) { object in
          object.member("time", point.time)
          object.member("amplitude", point.amplitude)
          guard let emphasis = point.emphasis else { return }
          object.object("emphasis", layout: .line) { tap in
            tap.member("amplitude", emphasis.amplitude)
            tap.member("frequency", emphasis.frequency)
          }
        }
      }
    }
    guard let frequency else { return }
    envelopes.array("frequency") { list in
      for point in frequency {
        list.object(layout: .line) { object in
          object.member("time", point.time)
          object.member("frequency", point.frequency)
        }
      }
    }
  }
}
