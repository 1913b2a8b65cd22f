"use strict";
(function () {
  function all(selector, within) {
    return Array.prototype.slice.call((within || document).querySelectorAll(selector));
  }

  // Tables: the column heads become buttons that sort; rows without a value come last.
  function valueOf(row, place) {
    var cell = row.cells[place];
    return cell.hasAttribute("data-value") ? cell.getAttribute("data-value") : cell.textContent.trim();
  }

  function compare(one, other, isNumber) {
    if (one === "" || other === "") {
      return null;
    }
    return isNumber ? Number(one) - Number(other) : one.localeCompare(other, undefined, { numeric: true });
  }

  function sortBy(table, head, place) {
    var direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    var isNumber = head.classList.contains("number");
    var body = table.tBodies[0];
    var rows = all("tr", body).map(function (row, at) {
      return { row: row, at: at, value: valueOf(row, place) };
    });
    rows.sort(function (one, other) {
      var order = compare(one.value, other.value, isNumber);
      if (order === null) {
        return (one.value === "") - (other.value === "") || one.at - other.at;
      }
      return direction * order || one.at - other.at;
    });
    rows.forEach(function (entry) {
      body.appendChild(entry.row);
    });
    all("th[aria-sort]", table.tHead).forEach(function (other) {
      other.setAttribute("aria-sort", "none");
    });
    head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
  }

  all("table.sortable").forEach(function (table) {
    if (table.tBodies[0].rows.length < 2) {
      return;
    }
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, place) {
      if (head.tagName !== "TH") {
        return;
      }
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent.trim();
      head.textContent = "";
      head.appendChild(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", function () {
        sortBy(table, head, place);
      });
    });
  });

  // Tables that are wider than the screen can be scrolled by keyboard; the others are not in the tab order.
  function markScrollers() {
    all(".scroll").forEach(function (box) {
      if (box.scrollWidth > box.clientWidth + 1) {
        box.setAttribute("tabindex", "0");
      } else {
        box.removeAttribute("tabindex");
      }
    });
  }

  // The slider: all of its texts were written when the page was made.
  var slider = document.getElementById("share");
  if (slider) {
    var data = JSON.parse(document.getElementById("share-data").textContent);
    var output = document.getElementById("share-result");
    var marker = document.querySelector(".with-slider .marker");
    var line = marker.querySelector("line");
    var dot = marker.querySelector("circle");
    var show = function () {
      var step = data.steps[Number(slider.value)];
      all("[data-part]", output).forEach(function (part) {
        part.textContent = step[part.getAttribute("data-part")];
      });
      slider.setAttribute("aria-valuetext", step.share + " of the rows");
      var frame = data.frame;
      var x = frame.left + step.x * (frame.right - frame.left);
      var y = frame.bottom - (step.y / frame.top_value) * (frame.bottom - frame.top);
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      line.setAttribute("y1", frame.bottom);
      line.setAttribute("y2", y);
      dot.setAttribute("cx", x);
      dot.setAttribute("cy", y);
      marker.classList.add("placed");
    };
    slider.parentNode.hidden = false;
    slider.addEventListener("input", show);
    show();
  }

  // For printing, all details are opened, and closed again afterwards.
  var opened = [];
  window.addEventListener("beforeprint", function () {
    opened = all("details:not([open])");
    opened.forEach(function (part) {
      part.open = true;
    });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (part) {
      part.open = false;
    });
    opened = [];
  });

  // In a notebook the page is in a frame: it says how high it is, and the frame adjusts.
  function tellHeight() {
    var height = Math.ceil(document.body.getBoundingClientRect().height);
    window.parent.postMessage({ surefootHeight: height }, "*");
  }
  if (window.parent !== window && window.ResizeObserver) {
    new ResizeObserver(tellHeight).observe(document.body);
  }

  markScrollers();
  window.addEventListener("resize", markScrollers);
  all("details").forEach(function (part) {
    part.addEventListener("toggle", markScrollers);
  });
})();
