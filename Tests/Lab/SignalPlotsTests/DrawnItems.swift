import Testing

@testable import SignalPlots

/// Queries about the items of a drawing.
extension PlotDrawing {
  /// All texts in drawing order.
  var texts: [String] {
    items.flatMap { item -> [String] in
      if case .text(let runs, _, _) = item {
        runs.map(\.text)
      } else {
        []
      }
    }
  }

  /// All rasters.
  var rasters: [Raster] {
    items.compactMap {
      if case .raster(let raster) = $0 {
        raster
      } else {
        nil
      }
    }
  }

  /// Returns the areas of a color, with their opacities.
  func areas(_ paint: Paint) -> [(shapes: [[PlotPoint]], opacity: Double)] {
    items.compactMap { item in
      guard case .path(let shapes, let fill?, _) = item, fill.paint == paint else { return nil }
      return (shapes, fill.opacity)
    }
  }

  /// Returns the lines of a color.
  func lines(_ paint: Paint) -> [(points: [[PlotPoint]], stroke: Stroke)] {
    items.compactMap { item in
      guard case .path(let lines, nil, let stroke?) = item, stroke.paint == paint else {
        return nil
      }
      return (lines, stroke)
    }
  }

  /// Returns the shapes that are filled with an opacity.
  func fills(opacity: Double) -> [[[PlotPoint]]] {
    items.compactMap { item in
      guard case .path(let lines, let fill?, nil) = item, fill.opacity == opacity else {
        return nil
      }
      return lines
    }
  }

  /// Returns the centers of the discs of a color.
  func discs(_ paint: Paint) -> [PlotPoint] {
    items.compactMap { item in
      guard case .disc(let center, _, let fill?, _) = item, fill.paint == paint else { return nil }
      return center
    }
  }

  /// The points of all shapes and texts.
  var allPoints: [PlotPoint] {
    items.flatMap { item -> [PlotPoint] in
      switch item {
      case .path(let lines, _, _):
        lines.flatMap(\.self)
      case .disc(let center, _, _, _):
        [center]
      case .rectangle(let box, _, _):
        [PlotPoint(box.left, box.top), PlotPoint(box.right, box.bottom)]
      case .text(_, let position, _):
        [position]
      case .raster(let raster):
        [
          PlotPoint(raster.filledBox.left, raster.filledBox.top),
          PlotPoint(raster.filledBox.right, raster.filledBox.bottom),
        ]
      }
    }
  }

  /// The points that are not finite or outside the drawing.
  var pointsOutside: [PlotPoint] {
    allPoints.filter {
      !($0.x.isFinite && $0.y.isFinite && (-0.01...width + 0.01).contains($0.x)
        && (-0.01...height + 0.01).contains($0.y))
    }
  }
}

/// A short description for failed expectations, without pixels.
extension PlotDrawing: CustomTestStringConvertible {
  /// The description in failed expectations.
  public var testDescription: String { "a picture of \(items.count) items" }
}

extension DecodedPNG: CustomTestStringConvertible {
  var testDescription: String { "\(width) × \(height) pixels" }
}
