internal import HapticModel

extension FigureDrawing {
  /// Draws how sharp takes are.
  mutating func drawTone(_ panel: PlotPanel, in box: PlotBox) {
    guard plot.takes.count == 1, let score = plot.takes[0].score else {
      drawTones(panel, in: box)
      return
    }
    // The height of a line is its sharpness, so that one scale of colours fits all lines.
    let paint = Self.ramp(
      from: PlotPoint(0, layout.y(0, on: panel.axis, in: box)), to: PlotPoint(0, layout.y(1, on: panel.axis, in: box)))
    let lines = score.events.flatMap { event -> [[PlotPoint]] in
      guard event.kind.isVibration, event.end >= plot.span.lowerBound, event.time <= plot.span.upperBound
      else { return [] }
      let points = event.points
      // A line reaches to where its event falls silent.
      let isSeen = points.indices.map { index in
        points[max(0, index - 1)...min(points.count - 1, index + 1)].contains {
          $0.intensity > TakeReading.leastStrength
        }
      }
      return Self.runs(Array(points.indices)) { isSeen[$0] }.map { run in
        let line = run.map { index in
          PlotPoint(layout.x(points[index].time), layout.y(points[index].sharpness, on: panel.axis, in: box))
        }
        return PolylineThinning.straightened(PolylineThinning.thinned(visible(line)), tolerance: 0.15)
      }
    }
    drawing.stroke(
      lines.count > Self.maximumShapeCount ? togetherTones(score, panel, in: box) : lines,
      PlotDrawing.Stroke(paint: paint, width: 2.5 * scale))
    let transients = transients(of: score)
    let fineness = fineness(count: transients.count)
    var taken = Set<[Int]>()
    for point in transients where point.intensity > 0 {
      let place = PlotPoint(layout.x(point.time), layout.y(point.sharpness, on: panel.axis, in: box))
      let color = PlotDrawing.Paint.color(Colormap.sharpness.color(at: point.sharpness))
      if let fineness {
        drawHead(at: place, of: 0, paint: color, radius: 4.5 * fineness)
      } else if taken.insert([Int(place.x / scale), Int(place.y / scale)]).inserted {
        drawing.add(.disc(place, radius: 1.2 * scale, fill: PlotDrawing.Fill(paint: color), stroke: nil))
      }
    }
  }

  /// The sharpness of the strongest of many events in each column.
  private func togetherTones(_ score: PatternScore, _ panel: PlotPanel, in box: PlotBox) -> [[PlotPoint]] {
    let strongest = columns(of: score.events.filter { $0.kind.isVibration })
    return Self.runs(Array(strongest.enumerated())) { $0.element.intensity > TakeReading.leastStrength }.map { run in
      PolylineThinning.straightened(
        run.map { PlotPoint(columnPlace($0.offset), layout.y($0.element.sharpness, on: panel.axis, in: box)) },
        tolerance: 0.15)
    }
  }

  /// The runs of neighbours for which something holds.
  static func runs<Element>(_ elements: [Element], where holds: (Element) -> Bool) -> [[Element]] {
    var runs: [[Element]] = []
    var isOpen = false
    for element in elements {
      guard holds(element) else {
        isOpen = false
        continue
      }
      if !isOpen { runs.append([]) }
      runs[runs.count - 1].append(element)
      isOpen = true
    }
    return runs
  }

  // MARK: Audio events

  /// The most audio events that are drawn; a lane with more is full anyway.
  private static let maximumAudioCount = 2_000

  /// Draws the audio events of a take: shapes as high as their volume, with the names of files.
  mutating func drawAudio(of take: Int, _ panel: PlotPanel, in box: PlotBox) {
    let events = (plot.takes[take].score?.audioEvents ?? []).filter {
      $0.end >= plot.span.lowerBound && $0.time <= plot.span.upperBound
    }
    let step = max(1, events.count / Self.maximumAudioCount)
    var labelEnd = -Double.infinity
    for index in stride(from: 0, to: events.count, by: step) {
      let event = events[index]
      let line = visible(
        event.points.map { PlotPoint(layout.x($0.time), layout.y($0.intensity, on: panel.axis, in: box)) })
      let start = max(box.left, layout.x(event.time))
      if let first = line.first, let last = line.last, line.count > 1 {
        drawing.fill([[PlotPoint(first.x, box.bottom)] + line + [PlotPoint(last.x, box.bottom)]], .role(.signal))
      } else if isShown(event.time) {
        // A file of unknown length has a beginning only.
        let top = PlotPoint(start, layout.y(event.givenIntensity, on: panel.axis, in: box))
        drawing.line(PlotPoint(start, box.bottom), top, .edge, width: 2 * scale)
        drawHead(at: top, of: 0, paint: .role(.edge), radius: 4)
      }
      let label = layout.fitted(event.file ?? "tone", size: PlotLayout.labelSize, to: box.right - start - 6 * scale)
      if start > labelEnd, label.count > 1 {
        write(label, at: PlotPoint(start + 6 * scale, box.bottom - 6 * scale), role: .ink)
        labelEnd = start + layout.width(of: label, size: PlotLayout.labelSize) + 12 * scale
      }
    }
  }
}
