package import Reading
internal import SystemSupport

/// The results file of a participant, with a row for each trial.
///
/// A row contains the answer and its conditions.
package struct StudyResults {
  /// A row of the results file, with the number of its first line.
  package struct Row {
    package let lineNumber: Int
    package let fields: [String: String]
  }

  /// The columns of files in the previous format version, without conditions.
  ///
  /// The answers in such files may be simulated.
  private static let formerColumnNames = [
    "study", "participant", "seed", "procedure", "profile", "trial", "intervals", "tested", "value",
    "answer", "right", "time", "seconds",
  ]
  /// The columns of files in the current format version.
  package static let columnNames =
    formerColumnNames + ["strength", "device", "program", "simulated"]
  private static let invalidResults = Rule.error(
    "study-results", "study", "The results must belong to the study.")

  /// The rows of the results in the order of the trials.
  package private(set) var rows: [Row] = []

  /// Creates results without rows.
  package init() {}

  /// Reads a results file. If the file has no conditions, the columns of the conditions are empty.
  package init(_ path: String, bytes: [UInt8]) throws {
    let resultsTable: CSVTable
    do throws(CSVTable.FormatError) {
      resultsTable = try CSVTable(bytes)
    } catch {
      throw Self.resultsError(path, line: error.lineNumber, error.reason)
    }
    guard [Self.columnNames, Self.formerColumnNames].contains(resultsTable.columnNames) else {
      throw Self.resultsError(path, line: 1, "is not a results file")
    }
    rows = resultsTable.rows.map { row in
      Row(
        lineNumber: row.lineNumber,
        fields: Dictionary(uniqueKeysWithValues: zip(resultsTable.columnNames, row.fields)))
    }
    for row in rows where !["true", "false", ""].contains(row.fields["simulated"] ?? "") {
      throw Self.resultsError(
        path, line: row.lineNumber, "column 'simulated' must be true or false")
    }
  }

  /// Returns an error that names a line of the results file.
  package static func resultsError(_ path: String, line: Int, _ message: String) -> InputError {
    InputError(
      Finding(
        invalidResults, location: FileLocation(name: path, position: .text(line: line, column: 1)),
        message)
    )
  }

  /// Adds a row for an answer, from the values of its columns by name.
  package mutating func append(_ fields: [String: String]) {
    rows.append(Row(lineNumber: rows.count + 2, fields: fields))
  }

  /// The results as the text of a CSV file.
  package var csvText: String {
    var resultsTable = CSVTable(columnNames: Self.columnNames)
    for row in rows {
      resultsTable.appendRow(Self.columnNames.map { row.fields[$0] ?? "" })
    }
    return resultsTable.csvText
  }
}
