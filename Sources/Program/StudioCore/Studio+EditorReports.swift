internal import HapticFormats
internal import Reading
internal import VendorFormats

// The reports for editing, checking, and converting.

extension Studio {
  /// Returns a report for editing, checking, or converting a document.
  ///
  /// - Parameters:
  ///   - kind: The kind of report.
  ///   - index: The index of an existing document. Some kinds need none.
  ///   - profile: The index of the profile, for findings.
  /// - Returns: The bytes of the report; empty for a report of another kind.
  func makeEditorReport(_ kind: ReportKind, document index: Int, profile: Int) -> [UInt8] {
    switch kind {
    case .formats: formatsJSON()
    case .losses: JSONWriter.compactArrayText { $0.writeLosses(lastConversionLosses) }
    case .original: documents[index].openedText
    case .history: undoHistoryJSON(index)
    case .lines: changedLinesJSON(index)
    case .origin: conversionOriginJSON(index)
    case .parts: partsJSON(index)
    case .check: findingsJSON(index, profile: profile)
    case .profiles, .text, .score: []
    }
  }

  /// Returns the formats as JSON.
  private func formatsJSON() -> [UInt8] {
    JSONWriter.compactArrayText { list in
      for format in FormatRegistry.standard.formats {
        list.writeObject { object in
          object.writeMember("id", format.id)
          object.writeMember("title", format.title)
          object.writeArray("extensions") { list in
            for fileExtension in format.fileExtensions {
              list.writeElement(fileExtension)
            }
          }
          object.writeMember("reads", true)
          object.writeMember("writes", format.isWritable)
        }
      }
    }
  }

  /// Returns the numbers of the changed lines of a document, as JSON.
  private func changedLinesJSON(_ index: Int) -> [UInt8] {
    JSONWriter.compactArrayText { list in
      for line in documents[index].changedLineNumbers {
        list.writeElement(line)
      }
    }
  }

  /// Returns the original format of a document and the losses of its conversion, as JSON.
  private func conversionOriginJSON(_ index: Int) -> [UInt8] {
    let conversionOrigin = documents[index].conversionOrigin
    return JSONWriter.compactObjectText { object in
      object.writeMember("format", documents[index].formatID)
      object.writeMember("title", conversionOrigin?.sourceFormat.title ?? HapticFormat.ahap.title)
      object.writeArray("losses") { $0.writeLosses(conversionOrigin?.losses ?? []) }
    }
  }

  /// Returns the patterns in the opened file of a document if it has several, as JSON.
  private func partsJSON(_ index: Int) -> [UInt8] {
    JSONWriter.compactArrayText { list in
      for part in documents[index].parts {
        list.writeObject { object in
          object.writeMember("kind", part.kind.rawValue)
          object.writeMember("name", part.name)
          object.writeMember("text", String(decoding: part.text, as: UTF8.self))
          object.writeArray("losses") { $0.writeLosses(part.losses) }
        }
      }
    }
  }

  /// Returns the names of the next undo and redo steps, as JSON.
  private func undoHistoryJSON(_ index: Int) -> [UInt8] {
    let historySummary = documents[index].historySummary
    return JSONWriter.compactObjectText { object in
      for (key, label) in [("undo", historySummary.undo), ("redo", historySummary.redo)] {
        if let label {
          object.writeMember(key, label)
        } else {
          object.writeNull(key)
        }
      }
      object.writeMember("changed", historySummary.isChanged)
      object.writeMember("readable", documents[index].isReadable)
    }
  }

  /// Returns the findings of a document as JSON, each with the path of the affected part, if there
  /// is one.
  func findingsJSON(_ index: Int, profile: Int) -> [UInt8] {
    let editor = documents[index].isReadable ? documents[index].lastReadableEditor : nil
    return JSONWriter.compactArrayText { list in
      for finding in findings(of: index, profile: profile) {
        list.writeObject {
          $0.writeMembers(
            of: finding, path: editor?.patternElementPath(forJSONPath: finding.location.path))
        }
      }
    }
  }
}

extension JSONArrayWriter {
  /// Writes losses with their locations.
  mutating func writeLosses(_ losses: [LocatedLoss]) {
    for locatedLoss in losses {
      writeObject { object in
        object.writeMember("kind", locatedLoss.loss.kind.rawValue)
        object.writeMember("message", locatedLoss.loss.message)
        object.writeMember("place", locatedLoss.location.path)
        if case .text(let line, let column) = locatedLoss.location.position {
          object.writeMember("line", line)
          object.writeMember("column", column)
        }
      }
    }
  }
}
